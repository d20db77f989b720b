import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Guest, GuestExit } from "./guest.ts";
import { encodeHostMessage } from "./host-messages.ts";

/**
 * A guest that is a plain process and knows its own token, so it can say anything. `behave` is the body of a function
 * of `send(message)`, `raw(text)` and `line(received)`; it runs when the host starts the program. `answer` is
 * one that runs when the host asks how it is.
 */
export function startScriptedGuest(behave: string, answer = `send({ type: "ready", version: "1" });`): Guest {
  const token = randomBytes(16).toString("hex");
  const script = `
let mark = "";
const raw = (text) => process.stdout.write(text);
const frame = (json) => {
  for (let at = 0; at < json.length || at === 0; at += 4000) {
    const piece = json.slice(at, at + 4000);
    raw(mark + Buffer.byteLength(piece) + "," + (at + 4000 >= json.length ? 1 : 0) + ";" + piece);
  }
};
const send = (message) => frame(JSON.stringify(message));
const lines = [];
let rest = "";
process.stdin.on("data", (chunk) => {
  rest += chunk;
  const parts = rest.split("\\n");
  rest = parts.pop();
  for (const part of parts) {
    const message = JSON.parse(part);
    if (message.type === "init") { mark = "\\0cem:" + message.token + ":"; send({ type: "ready", version: "1" }); }
    else if (message.type === "run") (async () => { ${behave} })();
    else if (message.type === "ping") { ${answer} }
    else lines.push(message);
  }
});
process.stdin.on("end", () => process.exit(0));`;
  const child = spawn(process.execPath, ["-e", script], { stdio: "pipe" });
  const exited = new Promise<GuestExit>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  child.stdin.write(encodeHostMessage({ type: "init", token }));
  return {
    token,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    get alive() {
      return child.exitCode === null && child.signalCode === null;
    },
    kill() {
      child.kill("SIGKILL");
    },
  };
}
