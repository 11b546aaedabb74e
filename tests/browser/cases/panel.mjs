// The panel shows request and answer together, the failure first; keys go on from message to message.

import assert from "node:assert/strict";

const call = (id, end) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"tool${id}","arguments":{"a":{"b":{"c":{"d":1}}}}}}\n{"jsonrpc":"2.0","id":${id},${end}}\n`;
const long = "a long reason, ".repeat(30);

export const logs = {
  "log.ndjson":
    call(1, '"result":{}') +
    call(2, `"result":{"isError":true,"content":[{"type":"text","text":"first line\\n${long}"}]}`) +
    call(3, '"result":{}'),
};

export default async (open) => {
  const tab = await open();
  const shown = (name) =>
    tab.until(
      (wanted) =>
        document.getElementById("message-title")?.textContent.startsWith(`${wanted} `) && document.querySelector("#message .tree"),
      name,
    );
  await tab.click(".row:nth-child(2)");
  await shown("m3");
  assert.deepEqual(await tab.texts("#message h3"), ["m3 request", "m4 response"]);
  assert.equal((await tab.texts(".alarm"))[0], `✗ first line\n${long}`);
  assert.ok(
    await tab.$eval(
      ".alarm",
      (one) => one.compareDocumentPosition(document.querySelector("#message dl")) & Node.DOCUMENT_POSITION_FOLLOWING,
    ),
  );
  // Small values are open to their last member, and strings have their line breaks.
  assert.ok((await tab.texts("#message .leaf")).includes('"d": 1'));
  assert.ok((await tab.texts("#message .string")).some((text) => text.startsWith('"first line\na long')));
  // Keys go on, without a return to the list and without filling the history.
  const before = await tab.evaluate(() => history.length);
  await tab.keyboard.press("j");
  await shown("m5");
  assert.equal(await tab.$eval(".alarm", (one) => one.hidden), true);
  await tab.keyboard.press("ArrowUp");
  await shown("m3");
  await tab.keyboard.press("k");
  await shown("m1");
  assert.equal(await tab.evaluate(() => history.length), before);
  await tab.keyboard.press("/");
  assert.equal(await tab.evaluate(() => document.activeElement.id), "filter-q");
  await tab.keyboard.type("j/");
  await tab.until(() => location.hash.includes("q=j%2F"));
  await shown("m1");
};
