// Converts JSON-LD documents with jsonld.js, one a line on standard input or in the files named as arguments.
//
// A line is either
//   {"document": …}                a JSON-LD document, maybe with its "base", and "contexts" that it names, by URL, or
//   {"context": …, "message": …}   a message and the context to read it under. Members of the message that JSON-LD
//                                  would obey because of their names are taken out first: they are data.
// For every line there is one on standard output: a JSON string with canonical N-Quads (RDFC-1.0), or {"error": …}.
//
// RPCGRAPH_JSONLD_JS names the folder whose node_modules holds jsonld. Nothing is fetched, ever.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {resolve} from 'node:path';

const installed = resolve(process.env.RPCGRAPH_JSONLD_JS ?? '.', 'package.json');
const jsonld = createRequire(installed)('jsonld');

const options = {
  algorithm: 'RDFC-1.0',
  format: 'application/n-quads',
  // Losses are part of what is compared.
  safe: false,
  // Many messages are alike, and so are their blank nodes.
  canonizeOptions: {maxWorkFactor: Infinity}
};

function documentLoader(contexts) {
  return async url => {
    if(contexts?.[url]) {
      return {documentUrl: url, document: contexts[url]};
    }
    throw new Error(`not fetched: ${url}`);
  };
}

// Terms of type @json in the building block's context; what is below them is data as it is.
const JSON_TERMS = new Set(['params', 'result', 'data']);
const KEYWORD = /^@[A-Za-z]+$/;

function withoutKeywords(value) {
  if(Array.isArray(value)) {
    return value.map(withoutKeywords);
  }
  if(value === null || typeof value !== 'object') {
    return value;
  }
  const members = Object.entries(value).filter(([name]) => !KEYWORD.test(name));
  return Object.fromEntries(
    members.map(([name, below]) => [name, JSON_TERMS.has(name) ? below : withoutKeywords(below)]));
}

async function toRdf({document, base, contexts, context, message}) {
  try {
    const input = document ?? {'@context': context, ...withoutKeywords(message)};
    // As UTF-8 has it, without lone surrogates.
    return Buffer.from(await jsonld.canonize(input, {...options, base: base ?? '', documentLoader: documentLoader(contexts)})).toString();
  } catch(error) {
    return {error: `${error.message} ${JSON.stringify(error.details ?? {})}`};
  }
}

const files = process.argv.slice(2);
for(const input of files.length === 0 ? [0] : files) {
  // Not with readline, which takes U+2028 for the end of a line.
  for(const line of readFileSync(input, 'utf8').split('\n').filter(line => line !== '')) {
    process.stdout.write(`${JSON.stringify(await toRdf(JSON.parse(line)))}\n`);
  }
}
