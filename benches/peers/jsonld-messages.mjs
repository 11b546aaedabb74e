// N-Triples of a log with jsonld.js, a message at a time: node jsonld-messages.mjs CONTEXT LOG

import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import jsonld from 'jsonld';

const [context, log] = process.argv.slice(2);
const options = { expandContext: JSON.parse(readFileSync(context, 'utf8')), format: 'application/n-quads' };
let record = 0;
let text = '';
for await (const line of createInterface({ input: createReadStream(log) })) {
  record += 1;
  const triples = await jsonld.toRDF(JSON.parse(line), options);
  // Blank nodes are numbered from 0 in each message.
  text += triples.replace(/(?<=^|> )_:b(?=\d+ )/gm, `_:m${record}b`);
  if (text.length > 1 << 20) {
    process.stdout.write(text);
    text = '';
  }
}
process.stdout.write(text);
