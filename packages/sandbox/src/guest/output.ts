import { sendStderr, writeStdout } from "./channel.ts";
import { Console, deno } from "./deno.ts";
import { decode, defineProperty } from "./primordials.ts";

/** Redirects `console` to the channel, which keeps stdout and stderr in order. */
export function redirectOutput(): void {
  const console = new Console((text, level) => {
    if (level > 1) sendStderr(text);
    else writeStdout(text);
  });
  defineProperty(globalThis, "console", {
    value: console,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  deno.stderr.writeSync = (bytes) => {
    sendStderr(decode(bytes));
    return bytes.length;
  };
  deno.stderr.write = async (bytes) => {
    sendStderr(decode(bytes));
    return bytes.length;
  };
}
