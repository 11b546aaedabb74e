// Arrows have heads where the sender is known, and only there; the heads of the lifelines stay above the rows.

import assert from "node:assert/strict";

const line = (from, members) => `{${from ? `"from":"${from}",` : ""}"message":{"jsonrpc":"2.0",${members}}}\n`;

export const logs = {
  "log.ndjson":
    line("client", '"id":0,"method":"initialize","params":{"clientInfo":{"name":"desk","version":"1"}}') +
    line("server", '"id":0,"result":{"serverInfo":{"name":"weather","version":"2"}}') +
    line("", '"method":"ping"') +
    Array.from({ length: 100 }, () => line("client", '"method":"n"')).join(""),
};

export default async (open) => {
  const tab = await open("#view=sequence");
  const tips = await tab.$$eval(".arrow", (all) =>
    all.slice(0, 3).map((one) => {
      const [tip, label] = [".tip", ".label"].map((part) => one.querySelector(part)?.getBoundingClientRect().left);
      return tip === undefined ? "none" : tip > label ? "right" : "left";
    }),
  );
  assert.deepEqual(tips, ["right", "left", "none"]);
  assert.deepEqual((await tab.texts(".row .lane")).slice(0, 3), ["from client: initialize", "from server: ✓ initialize ", "ping"]);
  assert.deepEqual(await tab.texts(".sides span"), ["client: desk 1", "server: weather 2"]);
  await tab.$eval(".list", (one) => (one.scrollTop = 2000));
  assert.ok(
    await tab.$eval(
      ".sides",
      (one) => one.getBoundingClientRect().bottom <= document.querySelector(".list").getBoundingClientRect().top + 2,
    ),
  );
};
