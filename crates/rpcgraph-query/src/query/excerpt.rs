//! The first rows of each part of an answer.

use std::sync::Arc;

use oxigraph::sparql::QuerySolution;
use oxrdf::{Literal, Term, Variable};

use super::answer::Solutions;

/// The maximum number of rows of a part.
const ROWS: u64 = 8;
/// The questions that list all rows of a part.
const QUESTIONS: [(&str, &str); 4] =
    [("between", "handshake"), ("failures", "errors"), ("problems", "problems"), ("", "unanswered")];

/// Keeps the first rows of each part, and adds a row with the number of further rows. Rows with the same value of `part`
/// are consecutive.
pub fn first_of_parts(solutions: Solutions<'_>) -> Solutions<'_> {
    let variables: Arc<[Variable]> = solutions.variables.clone().into();
    let mut rows = solutions.rows.fuse();
    // The part, the number of its rows, and the row that begins the next part.
    let (mut part, mut count, mut next): (Option<Term>, u64, _) = (None, 0, None);
    let excerpt = std::iter::from_fn(move || {
        loop {
            if let Some(row) = next.take() {
                return Some(row);
            }
            let row = rows.next();
            let of = row.as_ref().and_then(|row| row.as_ref().ok()?.get("part").cloned());
            if row.is_some() && of == part {
                count += 1;
                if count <= ROWS {
                    return row;
                }
                continue;
            }
            let further = count.saturating_sub(ROWS);
            let before = std::mem::replace(&mut part, of);
            count = 1;
            if further == 0 {
                return row;
            }
            next = row;
            return Some(Ok(summary(&variables, before, further)));
        }
    });
    Solutions { variables: solutions.variables, rows: Box::new(excerpt) }
}

/// Returns the row that states the number of further rows of a part.
fn summary(variables: &Arc<[Variable]>, part: Option<Term>, further: u64) -> QuerySolution {
    let name = match &part {
        Some(Term::Literal(name)) => name.value(),
        _ => "",
    };
    let question = QUESTIONS.iter().find(|(part, _)| [name, ""].contains(part)).map_or("", |(_, question)| question);
    let what = Literal::from(format!("further kinds: see {question}"));
    let values = variables.iter().map(|variable| match variable.as_str() {
        "part" => part.clone(),
        "what" => Some(what.clone().into()),
        "count" => Some(Literal::from(further).into()),
        _ => None,
    });
    QuerySolution::from((Arc::clone(variables), values.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(parts: &[(&str, u64)]) -> Vec<String> {
        let variables: Vec<_> = ["part", "what", "count"].map(Variable::new_unchecked).into();
        let shared: Arc<[Variable]> = variables.clone().into();
        let rows = parts.iter().flat_map(|(part, rows)| (1..=*rows).map(move |row| (*part, row)));
        let rows = rows.map(|(part, row)| {
            let values: Vec<Option<Term>> =
                vec![Some(Literal::from(part).into()), Some(Literal::from(format!("{part} {row}")).into()), None];
            Ok(QuerySolution::from((Arc::clone(&shared), values)))
        });
        let rows: Vec<_> = rows.collect();
        let rows = first_of_parts(Solutions { variables, rows: Box::new(rows.into_iter()) }).rows;
        let text = |row: &QuerySolution, name: &str| match row.get(name) {
            Some(Term::Literal(literal)) => literal.value().to_owned(),
            _ => String::new(),
        };
        rows.map(|row| row.map(|row| format!("{}: {} {}", text(&row, "part"), text(&row, "what"), text(&row, "count"))))
            .collect::<Result<_, _>>()
            .unwrap()
    }

    #[test]
    fn each_part_is_cut_and_says_so() {
        assert_eq!(excerpt(&[]), [""; 0]);
        assert_eq!(excerpt(&[("open", 8), ("waiting", 1)]).len(), 9);
        let cut = excerpt(&[("time", 1), ("unanswered", 30), ("open", 1), ("failures", 9)]);
        assert_eq!(cut.len(), 1 + 9 + 1 + 9);
        assert_eq!(cut[8], "unanswered: unanswered 8 ");
        assert_eq!(cut[9..11], ["unanswered: further kinds: see unanswered 22", "open: open 1 "]);
        assert_eq!(cut[19], "failures: further kinds: see errors 1");
    }
}
