//! Text form of plans.

use std::fmt;

use super::plan::{Chain, Expression, Join, Operator, Plan, Slot, TableSink, TermSource};

/// The output of a plan, with the names of its slots.
struct PlanWriter<'p, 'f> {
    to: &'p mut fmt::Formatter<'f>,
    names: &'p [String],
    depth: usize,
}

impl PlanWriter<'_, '_> {
    fn line(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        writeln!(self.to, "{:indent$}{text}", "", indent = 2 * self.depth)
    }

    /// Returns the names of slots.
    fn names<'s>(&self, slots: impl IntoIterator<Item = &'s Slot>) -> String {
        let name = |slot: &Slot| self.names.get(*slot).map_or("?", String::as_str);
        slots.into_iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Writes a line, with chains indented below it.
    fn part<'c>(&mut self, text: fmt::Arguments<'_>, chains: impl IntoIterator<Item = &'c Chain>) -> fmt::Result {
        self.line(text)?;
        self.depth += 1;
        for chain in chains {
            chain.0.iter().try_for_each(|step| step.operator.show(self))?;
        }
        self.depth -= 1;
        Ok(())
    }
}

impl Operator {
    fn show(&self, page: &mut PlanWriter<'_, '_>) -> fmt::Result {
        let value_of = |page: &mut PlanWriter<'_, '_>, what: String, value: &Expression| {
            let how = if value.calls.is_empty() { "" } else { ", by Oxigraph" };
            let text = format!("{what} of {}{how}", page.names(&value.reads));
            page.part(format_args!("{text}"), value.patterns.iter().map(|inner| &inner.chain))
        };
        match self {
            Self::Scan(scan) => {
                let place = |place: TermSource| match place {
                    TermSource::Slot(slot) => page.names([&slot]),
                    TermSource::Known(_) => "a term".to_owned(),
                };
                let optional = if scan.optional { "optional " } else { "" };
                let text = format!("{optional}scan {} {} {}", place(scan.subject), scan.name, place(scan.object));
                page.line(format_args!("{text}"))
            }
            Self::Items { json, item, .. } => {
                let text = page.names([json, item]);
                page.line(format_args!("items of {text}"))
            }
            Self::Same { from, to } => {
                let text = page.names([from, to]);
                page.line(format_args!("the same {text}"))
            }
            Self::Filter(condition) => value_of(page, "filter by a condition".to_owned(), condition),
            Self::Bind(slot, value) => {
                let name = page.names([slot]);
                value_of(page, format!("bind {name} to a value"), value)
            }
            Self::Union(chains) => chains.iter().try_for_each(|chain| page.part(format_args!("union"), [chain])),
            Self::Alternative(inners, _) => {
                inners.iter().try_for_each(|inner| page.part(format_args!("union"), [&inner.chain]))
            }
            Self::Optional(inner) => page.part(format_args!("optional"), [&inner.chain]),
            Self::Join(Join { stage, keys, shared, .. }) | Self::Minus(Join { stage, keys, shared, .. }) => {
                let (keys, is_alone) = (page.names(keys.iter().chain(shared)), keys.is_empty() && shared.is_empty());
                let name = match self {
                    Self::Join(_) if is_alone => "with".to_owned(),
                    Self::Join(_) => format!("join on {keys} with"),
                    _ => format!("minus on {keys}"),
                };
                let sink = match &stage.sink {
                    TableSink::All => "the rows of".to_owned(),
                    TableSink::Group(group) if group.aggregates.is_empty() => "the distinct rows of".to_owned(),
                    TableSink::Group(group) => format!("groups by {} of", page.names(&group.keys)),
                    TableSink::Sort(sort) => {
                        let keys = page.names(sort.keys.iter().map(|(slot, _)| slot));
                        let limit = sort.limit.map_or(String::new(), |limit| format!("the first {limit} "));
                        format!("{limit}sorted by {keys} of")
                    }
                    TableSink::Slice(start, length) => {
                        let length = length.map_or("all".to_owned(), |length| length.to_string());
                        format!("{length} rows from {start} of")
                    }
                };
                page.part(format_args!("{name} {sink}"), [&stage.chain])
            }
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut page = PlanWriter { to: f, names: &self.names, depth: 0 };
        self.chain.0.iter().try_for_each(|step| step.operator.show(&mut page))?;
        if !self.late.is_empty() {
            let late = page.names(self.late.iter().map(|(slot, _)| slot));
            page.line(format_args!("bind {late} as the rows are written"))?;
        }
        let columns = page.names(&self.slots);
        page.line(format_args!("rows of {columns}"))
    }
}
