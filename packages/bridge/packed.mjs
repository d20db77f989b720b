// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { answerErrors, checkCalls, compose, createHostTools, createReplayer, defineTool } from "@cem/bridge";

const greet = defineTool({
  description: "Greet somebody.",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  execute: ({ name }) => ({ greeted: name }),
});
const tools = createHostTools({ tools: { greeter: { greet } } });
const invoker = compose([answerErrors, checkCalls(tools)], tools);
const signal = AbortSignal.timeout(10_000);
const call = (invoker, args) => invoker.invoke({ server: "greeter", tool: "greet", args }, { signal });

const result = await call(invoker, { name: "Ada" });
assert.deepEqual(result, { ok: true, value: { greeted: "Ada" } });
assert.equal((await call(invoker, { nam: "Ada" })).error.code, "ARGUMENTS_INVALID");
const replayer = createReplayer([{ server: "greeter", tool: "greet", args: { name: "Ada" }, result }]);
assert.deepEqual(await call(replayer, { name: "Ada" }), { ok: true, value: { greeted: "Ada" } });
assert.equal((await call(replayer, { name: "Bob" })).error.code, "NOT_RECORDED");
