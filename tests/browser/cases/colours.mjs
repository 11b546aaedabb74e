// Bars, the selected tab and text stay visible: in forced colours, in light and dark, at any width.

import assert from "node:assert/strict";

const line = (second, members) => `{"time":"2026-01-05T10:00:0${second}Z","message":{"jsonrpc":"2.0",${members}}}\n`;

export const logs = {
  "log.ndjson":
    line(0, '"id":1,"method":"m"') +
    line(1, '"id":1,"result":0') +
    line(2, '"id":2,"method":"n"') +
    line(3, '"id":2,"error":{"code":1,"message":"no"}') +
    line(4, '"id":3,"method":"o"'),
};

const channels = (colour) => colour.match(/[\d.]+/g).map(Number);

/** The contrast of two colours: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one, other) {
  const light = (colour) => {
    const [red, green, blue] = channels(colour).map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [least, most] = [light(one), light(other)].sort((low, high) => low - high);
  return (most + 0.05) / (least + 0.05);
}

export default async (open) => {
  for (const scheme of ["light", "dark"]) {
    const tab = await open("", { scheme });
    await tab.waitForSelector(".bar");
    const colours = await tab.$$eval(".bar:not(.open)", (all) => all.map((one) => getComputedStyle(one).backgroundColor));
    const back = await tab.$eval("body", (one) => getComputedStyle(one).backgroundColor);
    assert.equal(colours.length, 2);
    for (const colour of colours) assert.ok(contrast(colour, back) >= 3, `${scheme}: ${colour} on ${back}`);
  }
  const forced = await open("#open=m1", { forced: true });
  await forced.waitForSelector("#message .tree");
  const style = (selector) => forced.$eval(selector, (one) => getComputedStyle(one).backgroundColor);
  const back = await style("body");
  for (const selector of [".bar.ok", ".bar.failed", '[role="tab"][aria-selected="true"]'])
    assert.notEqual(await style(selector), back, selector);
  // The runner asks axe about each of these.
  for (const options of [{ forced: true }, { scheme: "dark" }]) {
    await open("#view=plots", options);
    const sequence = await open("#view=sequence&q=no&open=m4", options);
    await sequence.waitForSelector("#message .alarm");
  }
  for (const width of [400, 1280, 1920]) {
    const tab = await open("#view=plots", { width });
    await tab.waitForSelector(".plots svg text");
    const sizes = await tab.$$eval(".plots svg", (all) =>
      all.map((one) => [one.getScreenCTM().a, getComputedStyle(one.querySelector("text")).fontSize, one.getBoundingClientRect().right]),
    );
    assert.ok(
      sizes.every(([scale, size, right]) => scale === 1 && size === "12px" && right <= width),
      `${width}: ${sizes}`,
    );
  }
};
