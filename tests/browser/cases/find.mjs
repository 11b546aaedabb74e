// The search in a message finds text in folded values, too; a member of a batch copies itself.

import assert from "node:assert/strict";

const items = Array.from({ length: 500 }, (_, place) => `{"n":${place},"word":"${place % 100 === 99 ? "needle" : "hay"}"}`).join();

export const logs = {
  "log.ndjson": [
    `{"jsonrpc":"2.0","id":1,"method":"m","params":{"items":[${items}],"line":"one\\ntwo \\u00e9\\"","long":"${"x".repeat(20000)} far needle"}}`,
    '[{"jsonrpc":"2.0","method":"first"},{"jsonrpc":"2.0","method":"second", "params":[1.50]}]',
    "",
  ].join("\n"),
};

export default async (open) => {
  const tab = await open("#open=m1");
  await tab.evaluate(() => (navigator.clipboard.writeText = async (text) => void (window.copied = text)));
  await tab.waitForSelector("#message .tree");
  const button = (text) =>
    tab.evaluateHandle((wanted) => [...document.querySelectorAll("#message button")].find((one) => one.textContent === wanted), text);
  const press = async (text) => (await button(text)).click();
  const said = () => tab.$eval("#message output", (one) => one.textContent);
  const copied = async (what) => {
    await press(what);
    await tab.until((wanted) => document.querySelector("#message output").textContent === `copied the ${wanted}`, what);
    return tab.evaluate(() => window.copied);
  };
  await tab.type("#message-search", "needle");
  assert.equal(await said(), "1 of 6 places");
  await press("Next");
  assert.equal(await said(), "2 of 6 places");
  assert.equal(await copied("path"), "/params/items/199/word");
  assert.equal(await copied("member"), '"word": "needle"');
  await press("Previous");
  await press("Previous");
  assert.equal(await said(), "6 of 6 places");
  // The mark is in view, far down in a text as well.
  assert.ok(
    await tab.evaluate(() => {
      const [range] = CSS.highlights.get("found");
      const [place, frame] = [range.getBoundingClientRect(), document.getElementById("message").getBoundingClientRect()];
      return range.toString() === "needle" && place.top >= frame.top && place.bottom <= frame.bottom;
    }),
  );
  assert.ok((await copied("value")).endsWith("x far needle"));
  // A string is text, with its line breaks; escapes of JSON do not hide what is looked for.
  await tab.type("#message-search", 'two é"');
  assert.equal(await said(), "1 of 1 place");
  assert.equal(await copied("value"), 'one\ntwo é"');
  await tab.type("#message-search", "nowhere");
  assert.equal(await said(), "0 places");
  // A member of a batch, as it is written.
  await tab.evaluate(() => (location.hash = "open=m2.2"));
  await tab.until(() => document.querySelector("#message .tree")?.textContent.includes("second"));
  assert.equal(await copied("message"), '{"jsonrpc":"2.0","method":"second", "params":[1.50]}');
  assert.match(await copied("link"), /#.*open=m2\.2/);
  assert.match(await copied("curl"), /^curl URL .* -d '\{"jsonrpc":"2\.0","method":"second", "params":\[1\.50\]\}'$/);
};
