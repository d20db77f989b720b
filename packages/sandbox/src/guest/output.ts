import { sendStderr } from "./channel.ts";
import { deno } from "./deno.ts";
import { decode } from "./primordials.ts";

/** Sends what is written to stderr past the console to the host, in order with everything else. */
export function redirectStderr(): void {
  deno.stderr.writeSync = (bytes) => {
    sendStderr(decode(bytes));
    return bytes.length;
  };
  deno.stderr.write = async (bytes) => {
    sendStderr(decode(bytes));
    return bytes.length;
  };
}
