//! Contexts that are fetched: from where, how much of them, how long, and what is kept.

use super::*;

#[test]
fn files_do_not_make_the_program_fetch() {
    let server = Server::serving(json!({ "@context": { "a": "x:a" } }));
    let url = format!("{}/a.jsonld", server.url);
    let dir = TempDir::new().unwrap();
    let path = write(&dir, "c.jsonld", &json!({ "@context": [url, { "c": "x:c" }] }));
    let file = Reference::File(path.clone());
    let message = format!(
        "will not fetch `{url}` because the file `{}` refers to it: if you trust it, name it too, with -c {url} before \
         the file",
        path.display()
    );
    assert_eq!(refusal(load(&file)), message);
    assert_eq!(server.count(), 0);

    let loader = loader();
    loader.load(&Reference::Url(url)).unwrap();
    assert_eq!(loader.load(&file).unwrap().value(), &json!([{ "a": "x:a" }, { "c": "x:c" }]));
    assert_eq!(server.count(), 1);
    assert!(refused(json!("urn:x")).starts_with("will not fetch `urn:x`, named by `FILE`: contexts come from https"));
    assert_eq!(
        refused(json!("http://[")),
        "\"http://[\", named by `FILE`, is not a reference to a context: give a URL or a relative path"
    );
    assert!(refused(json!("a%1B.jsonld")).contains("a\u{FFFD}.jsonld`, named by `FILE`"));
}

#[test]
fn fetched_contexts_cannot_refer_to_files() {
    let dir = TempDir::new().unwrap();
    let file = url::Url::from_file_path(write(&dir, "c.jsonld", &json!({ "@context": {} }))).unwrap().to_string();
    let server = Server::serving(json!({ "@context": file }));
    // Not one that the same loader has read either.
    let loader = loader();
    loader.load(&Reference::File(dir.path().join("c.jsonld"))).unwrap();
    let message = format!("will not fetch `{file}`, named by `{}/a`: {FROM_WHERE}", server.url);
    assert_eq!(refusal(loader.load(&at(&server, "/a"))), message);
    let redirecting = Server::start(move |_, stream| redirect(stream, &file));
    assert!(refusal(load(&at(&redirecting, "/"))).contains("named by a redirect of `http://127.0.0.1:"));
}

#[test]
fn only_some_urls_are_fetched() {
    for url in [
        "http://json-rpc.example/c",
        "http://192.0.2.1/c",
        "http://localhost.example/c",
        "http://[::ffff:7f00:1]/c",
        "https://user@json-rpc.example/c",
        "https://user:secret@json-rpc.example/c",
    ] {
        let shown = url.replace("secret", "***");
        let message = format!("will not fetch `{shown}`, named by the command line: {FROM_WHERE}");
        assert_eq!(refusal(load(&Reference::parse(url))), message);
    }
    let message = "\"https://\", named by the command line, is not a reference to a context: give a URL or a relative \
                   path";
    assert_eq!(refusal(load(&Reference::parse("https://"))), message);
}

#[test]
fn a_context_is_fetched() {
    let server = Server::serving(json!({ "@context": { "a": "x:a" } }));
    let reference = at(&server, "/a.jsonld?q=1#fragment");
    let context = load(&reference).unwrap();
    assert_eq!((context.origin(), context.value()), (&*reference.to_string(), &json!({ "a": "x:a" })));
    let request = server.requests.lock().unwrap().concat().to_ascii_lowercase();
    assert!(request.starts_with("get /a.jsonld?q=1 http/1.1"), "{request}");
    assert!(request.contains("\naccept: application/ld+json, application/json;q=0.9"), "{request}");

    // The same loader does not read it twice.
    let loader = loader();
    loader.load(&reference).unwrap();
    loader.load(&at(&server, "/a.jsonld?q=1#other")).unwrap();
    assert_eq!(server.count(), 2);

    let port = server.url.rsplit(':').next().unwrap();
    let localhost = Reference::Url(format!("http://localhost:{port}/"));
    assert_eq!(load(&localhost).unwrap().value(), context.value());
}

#[test]
fn answers_that_are_no_contexts_are_refused() {
    let server = Server::start(|path, stream| match path {
        "/html" => ok(stream, "<!doctype html>"),
        "/bare" => ok(stream, json!({ "a": "x:a" })),
        "/cut" => stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"@context\": {}}"),
        "/rubbish" => stream.write_all(b"no HTTP at all\r\n\r\n"),
        "/nowhere" => stream.write_all(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    });
    for (path, message) in [
        ("S/missing", "`S/missing` answered with HTTP status 404: check the URL"),
        ("S/html", "the context `S/html` is not JSON: a context is a JSON document with an `@context` entry"),
        ("S/bare", "`S/bare` is not a JSON object with an `@context` entry: put the context under `@context`"),
        ("S/cut", "cannot fetch the context `S/cut`: check the URL and the network"),
        ("S/rubbish", "cannot fetch the context `S/rubbish`: check the URL and the network"),
        ("S/nowhere", "`S/nowhere` answered with a redirect that names no valid URL: check the URL"),
    ] {
        assert_eq!(refusal(load(&at(&server, &path[1..]))).replace(&server.url, "S"), message);
    }
}

#[test]
fn redirects_are_followed_five_times() {
    let server = Server::start(|path, stream| match path {
        "/dir/1" => redirect(stream, "2"),
        "/dir/2" => redirect(stream, "/dir/3"),
        "/dir/3" => redirect(stream, "4#fragment"),
        "/dir/4" => redirect(stream, "5"),
        "/dir/5" => redirect(stream, "/other/a.jsonld"),
        "/other/a.jsonld" => ok(stream, json!({ "@context": "b.jsonld" })),
        "/other/b.jsonld" => ok(stream, json!({ "@context": { "b": "x:b" } })),
        _ => redirect(stream, path),
    });
    // References are relative to the URL that answered, after redirects.
    assert_eq!(load(&at(&server, "/dir/1")).unwrap().value(), &json!({ "b": "x:b" }));
    let before = server.count();
    let message = format!("`{}/loop` redirects more than 5 times: name the URL that it leads to", server.url);
    assert_eq!(refusal(load(&at(&server, "/loop"))), message);
    assert_eq!(server.count() - before, 6);
}

#[test]
fn redirects_lead_to_no_other_machine_in_the_clear() {
    let server = Server::start(|_, stream| redirect(stream, "http://192.0.2.1/c"));
    let started = Instant::now();
    let redirect = format!("a redirect of `{}/`", server.url);
    let message = format!("will not fetch `http://192.0.2.1/c`, named by {redirect}: {FROM_WHERE}");
    assert_eq!(refusal(load(&at(&server, "/"))), message);
    assert!(started.elapsed() < Duration::from_secs(9), "it tried to connect");
}

#[test]
fn redirects_lead_to_no_private_network() {
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = format!("https://{}:1/c", hostname.trim());
    let mut targets =
        vec!["https://10.0.0.1/c", "https://169.254.169.254/c", "https://[fd00::1]/c", "https://0x0a000001/c"];
    // A name that leads there is judged by where it leads.
    let address = (hostname.trim(), 1).to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    match address.filter(|address| address.ip().is_loopback()) {
        Some(_) => targets.push(&own),
        None => println!("skipped: this machine's name does not lead to itself"),
    }
    for target in targets {
        let started = Instant::now();
        let to = target.to_owned();
        let server = Server::start(move |_, stream| redirect(stream, &to));
        let message = refusal(load(&at(&server, "/")));
        assert!(message.contains("it is on this machine or a private network"), "{target}: {message}");
        // Not by way of a document either.
        let server = Server::serving(json!({ "@context": target }));
        let message = refusal(load(&at(&server, "/")));
        assert!(message.contains("it is on this machine or a private network"), "{target}: {message}");
        assert!(started.elapsed() < Duration::from_secs(9), "it tried to connect");
    }
}

#[test]
#[cfg(unix)]
fn a_copy_is_a_regular_file() {
    let cache = TempDir::new().unwrap();
    let server = Server::serving(json!({ "@context": {} }));
    let loader = || Loader::new().cache_dir(Some(cache.path().into()));
    loader().load(&at(&server, "/a")).unwrap();
    let [copy] = copies(cache.path()).try_into().unwrap();
    fs::remove_file(&copy).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&copy).status().unwrap().success());
    loader().load(&at(&server, "/a")).unwrap();
    assert_eq!(server.count(), 2, "it was fetched again");
}

#[test]
fn a_body_is_read_up_to_the_limit() {
    let server = Server::start(|path, stream| {
        let padding = " ".repeat(5 << 20);
        match path {
            "/declared" => ok(stream, format_args!("{{\"@context\": {{}}}}{padding}")),
            _ => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
                loop {
                    stream.write_all(padding.as_bytes())?;
                }
            }
        }
    });
    for path in ["/declared", "/endless"] {
        let message = format!("the context `{}{path}` is larger than 4194304 bytes: is it a context?", server.url);
        assert_eq!(refusal(load(&at(&server, path))), message);
    }
}

#[test]
fn a_document_arrives_in_time_or_not_at_all() {
    let server = Server::start(|path, stream| {
        if path == "/silent" {
            thread::sleep(Duration::from_secs(5));
            return Ok(());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")?;
        loop {
            stream.write_all(b" ")?;
            thread::sleep(Duration::from_millis(20));
        }
    });
    for path in ["/drip", "/silent"] {
        let started = Instant::now();
        let message =
            format!("`{}{path}` did not arrive within 300ms: save it to a file and name the file with -c", server.url);
        assert_eq!(refusal(loader().time_limit(Duration::from_millis(300)).load(&at(&server, path))), message);
        assert!(started.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn circles_are_refused_with_their_chain() {
    let server = Server::start(|path, stream| match path {
        "/a" => ok(stream, json!({ "@context": [{}, "b"] })),
        "/b" => ok(stream, json!({ "@context": { "t": { "@id": "x:t", "@context": "c#x" } } })),
        "/c" => ok(stream, json!({ "@context": "/b" })),
        _ => ok(stream, json!({ "@context": "" })),
    });
    let refusal = |path| refusal(load(&at(&server, path))).replace(&server.url, "S");
    let message = "contexts refer to each other in a circle, which cannot be inlined: S/a -> S/b -> S/c -> S/b";
    assert_eq!(refusal("/a"), message);
    let message = "contexts refer to each other in a circle, which cannot be inlined: S/self -> S/self";
    assert_eq!(refusal("/self"), message);
    assert_eq!(server.count(), 4);
}

#[test]
fn references_are_limited_in_depth_and_number() {
    let dir = TempDir::new().unwrap();
    for n in 0..17 {
        write(&dir, &format!("{n}.jsonld"), &json!({ "@context": format!("{}.jsonld", n + 1) }));
    }
    write(&dir, "17.jsonld", &json!({ "@context": { "end": "x:end" } }));
    let file = |n: usize| Reference::File(dir.path().join(format!("{n}.jsonld")));
    assert_eq!(load(&file(1)).unwrap().value(), &json!({ "end": "x:end" }));
    let message = refusal(load(&file(0)));
    let expected = "17.jsonld` is nested too deep: at most 16 references and 64 scoped contexts may be nested";
    assert!(message.ends_with(expected), "{message}");

    let many = |count: usize| {
        for n in 1..count {
            write(&dir, &format!("leaf-{n}.jsonld"), &json!({ "@context": {} }));
        }
        let leaves: Vec<_> = (1..count).map(|n| format!("leaf-{n}.jsonld")).collect();
        write(&dir, "many.jsonld", &json!({ "@context": leaves }))
    };
    assert_eq!(load(&Reference::File(many(64))).unwrap().value().as_array().unwrap().len(), 63);
    let message = refusal(load(&Reference::File(many(65))));
    let expected = "many.jsonld` and what it refers to are too much: at most 64 documents, and 16777216 bytes with \
                    each counted wherever it is referred to";
    assert!(message.ends_with(expected), "{message}");

    // Each doubles the next: few documents, many times their text.
    for n in 0..16 {
        let next = format!("twice-{}.jsonld", n + 1);
        write(&dir, &format!("twice-{n}.jsonld"), &json!({ "@context": [&next, &next] }));
    }
    write(&dir, "twice-16.jsonld", &json!({ "@context": { "t": "x:".repeat(500) } }));
    let doubling = Reference::File(dir.path().join("twice-0.jsonld"));
    assert!(matches!(load(&doubling), Err(LoadError::TooMuch { .. })));

    // Scoped contexts over several documents add up.
    let scoped = |levels: usize, end: Value| {
        (0..levels).fold(end, |inner, _| json!({ "t": { "@id": "x:t", "@context": inner } }))
    };
    write(&dir, "scopes-1.jsonld", &json!({ "@context": scoped(32, json!({})) }));
    for (levels, fits) in [(32, true), (33, false)] {
        let path = write(&dir, "scopes-0.jsonld", &json!({ "@context": scoped(levels, json!("scopes-1.jsonld")) }));
        assert_eq!(load(&Reference::File(path)).is_ok(), fits, "{levels}");
    }
}

#[test]
fn fetched_contexts_are_cached_for_a_day() {
    let server = Server::start(|path, stream| match path {
        "/moved" => redirect(stream, "/dir/a.jsonld"),
        "/dir/a.jsonld" => ok(stream, json!({ "@context": ["b.jsonld", { "a": "x:a" }] })),
        _ => ok(stream, json!({ "@context": { "b": "x:b" } })),
    });
    let dir = TempDir::new().unwrap();
    let cache = dir.path().join("not/there/yet");
    let load = || Loader::new().cache_dir(Some(cache.clone())).load(&at(&server, "/moved")).unwrap().value().clone();
    let expected = json!([{ "b": "x:b" }, { "a": "x:a" }]);
    assert_eq!((load(), server.count()), (expected.clone(), 3));
    assert_eq!((load(), server.count()), (expected.clone(), 3));
    assert_eq!(copies(&cache).len(), 2);
    for copy in copies(&cache) {
        let name = copy.file_name().unwrap().to_str().unwrap();
        assert!(name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }

    let age = |age: Duration| {
        for copy in copies(&cache) {
            File::options().write(true).open(copy).unwrap().set_modified(SystemTime::now() - age).unwrap();
        }
    };
    age(23 * HOUR);
    assert_eq!((load(), server.count()), (expected.clone(), 3));
    age(25 * HOUR);
    assert_eq!((load(), server.count()), (expected.clone(), 6));
    assert_eq!((load(), server.count()), (expected.clone(), 6), "the copies are new again");

    for text in ["", "rubbish", "http://127.0.0.1/\n{", "http://192.0.2.1/\n{\"@context\": {}}", "\n\n"] {
        for copy in copies(&cache) {
            fs::write(copy, text).unwrap();
        }
        let before = server.count();
        assert_eq!((load(), server.count()), (expected.clone(), before + 3), "{text:?}");
    }
}

#[test]
fn a_cache_keeps_nothing_refused_and_may_be_unwritable() {
    let server = Server::start(|path, stream| match path {
        "/alias" => ok(stream, json!({ "@context": { "id": "@graph" } })),
        _ => ok(stream, json!({ "@context": {} })),
    });
    let dir = TempDir::new().unwrap();
    let loader = |cache| Loader::new().cache_dir(Some(cache));
    let refused = loader(dir.path().into()).load(&at(&server, "/alias"));
    assert!(matches!(refused, Err(LoadError::KeywordAlias { .. })));
    assert_eq!(copies(dir.path()), [] as [PathBuf; 0]);
    let occupied = write(&dir, "file", &json!(null)).join("contexts");
    assert_eq!(loader(occupied).load(&at(&server, "/")).unwrap().value(), &json!({}));
}

#[test]
fn offline_uses_the_cache_alone() {
    let server = Server::serving(json!({ "@context": { "a": "x:a" } }));
    let cache = TempDir::new().unwrap();
    let offline = || Loader::new().cache_dir(Some(cache.path().into())).offline(true).load(&at(&server, "/a"));
    let message = format!(
        "`{}/a` is not in the cache, and --offline forbids to fetch it: run once without --offline, or save it to a \
         file and name the file with -c",
        server.url
    );
    assert_eq!(refusal(offline()), message);
    assert_eq!(server.count(), 0);

    Loader::new().cache_dir(Some(cache.path().into())).load(&at(&server, "/a")).unwrap();
    assert_eq!(offline().unwrap().value(), &json!({ "a": "x:a" }));
    let copy = &copies(cache.path())[0];
    File::options().write(true).open(copy).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(offline().unwrap().value(), &json!({ "a": "x:a" }), "an old copy is better than none");
    fs::write(copy, "rubbish").unwrap();
    assert_eq!(refusal(offline()), message);
    assert_eq!(server.count(), 1);
}
