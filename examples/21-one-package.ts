// Each package works alone: here values of persons leave a text, and come back where they may. It runs in a browser, too.
import { createDetector, createRedactor } from "@cem/pii";

const text = "Ada <ada@example.com> paid with 4111 1111 1111 1111 from 192.168.0.7.";
for (const { type, start, end } of createDetector().find(text))
  console.log(`${type}: ${text.slice(start, end)}`);

const redactor = createRedactor();
const session = "support-4711";
const safe = redactor.tokenize(text, { session });
console.log(`A model reads: ${safe}`);
console.log(`The same value, the same token: ${redactor.tokenize(text, { session }) === safe}`);

const target = { session, server: "mail", tool: "send" };
console.log("A tool gets:", await redactor.detokenize(safe, target));
await redactor.dispose();
