//! An HTTP server for tests, with scripted answers, right or wrong.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request to the server.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// With what follows a question mark.
    pub path: String,
    /// The request line and the headers, one a line.
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    fn read(stream: &TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let lines = reader.by_ref().lines();
        let head: Vec<_> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let mut words = head.first()?.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut request = Self { method, path, head: head.join("\n"), body: Vec::new() };
        let length = request.header("content-length").map_or(0, |length| length.parse().expect("a length"));
        reader.take(length).read_to_end(&mut request.body).ok()?;
        Some(request)
    }

    /// The value of a header; its name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("text")
    }
}

/// An HTTP/1.1 server on 127.0.0.1 that writes down what it is asked. One connection at a time, closed when answered.
pub struct Server {
    pub url: String,
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// The answers are given the path, and write what they like.
    pub fn start(answer: impl Fn(&str, &mut TcpStream) -> io::Result<()> + Send + 'static) -> Self {
        Self::serve(move |request, stream| answer(&request.path, stream))
    }

    /// The answers are given the whole request.
    pub fn serve(answer: impl Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                let Some(request) = Request::read(&stream) else { continue };
                seen.lock().expect("requests").push(request.head.clone());
                // The client may have heard enough.
                drop(answer(&request, &mut stream));
            }
        });
        Self { url, requests }
    }

    /// The same document for every path.
    pub fn serving(document: impl Display + Send + 'static) -> Self {
        Self::start(move |_, stream| ok(stream, &document))
    }

    pub fn count(&self) -> usize {
        self.requests.lock().expect("requests").len()
    }
}

pub fn ok(stream: &mut TcpStream, body: impl Display) -> io::Result<()> {
    respond(stream, "200 OK", &[], body)
}

/// Any answer; headers as `Name: value`.
pub fn respond(stream: &mut TcpStream, status: &str, headers: &[&str], body: impl Display) -> io::Result<()> {
    let body = body.to_string();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

pub fn redirect(stream: &mut TcpStream, target: &str) -> io::Result<()> {
    respond(stream, "302 Found", &[&format!("Location: {target}")], "")
}
