import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createTypeChecker } from "@cem/type-check";
import { expect, it } from "vitest";
import { createAgent } from "./index.ts";

/** Lists a call of each function that the guest's globals have, of each static method and of each method of instances. */
const LIST_CALLS = `
const NAME = /^(?!constructor$|prototype$)[A-Za-z_$][\\w$]*$/;
const calls = [];
const methodsOf = (value) => Object.entries(Object.getOwnPropertyDescriptors(value)).filter(
  ([name, { value }]) => NAME.test(name) && typeof value === "function",
);
const list = (path, value) => {
  for (const [name, method] of methodsOf(value)) {
    calls.push(path + "." + name);
    if (/^[A-Z]/.test(name)) listClass(path + "." + name, method.value);
  }
};
const listClass = (path, value) => {
  list(path, value);
  for (const [name] of methodsOf(value.prototype ?? {})) calls.push("(null as any as InstanceType<typeof " + path + ">)." + name);
};
for (const name of Object.getOwnPropertyNames(globalThis).filter((name) => NAME.test(name))) {
  const value = globalThis[name];
  if (typeof value === "function" && /^[A-Z]/.test(name)) listClass(name, value);
  else if (typeof value === "function") calls.push(name);
  else if (typeof value === "object" && value !== null && value !== globalThis) list(name, value);
}
return calls;`;
/** Members for the runtime's own use, and some that are not worth a declaration. */
const LEFT_OUT =
  /^(?:Crypto|CryptoKey|SubtleCrypto)\.|getParent$|setMatrixValue$|^WebAssembly\.Suspend(?:ing|Error)$/;
/** Few enough that no limit of the checker leaves one out: some of these calls have other mistakes. */
const CALLS_PER_CHECK = 20;

it("knows all that the guest has", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "cem-guest-library-"));
  const agent = createAgent({
    configFile: false,
    config: {
      execution: { workspaceDir: path.join(folder, "workspace"), serversDir: path.join(folder, "servers") },
    },
  });
  const checker = createTypeChecker();
  try {
    const { error, value } = await agent.executeCode(LIST_CALLS, { typeCheck: "off" });
    expect(error).toBeNull();
    const calls = (value as string[]).filter((call) => !LEFT_OUT.test(call));
    expect(calls.length).toBeGreaterThan(1_000);
    const unknown: string[] = [];
    for (let at = 0; at < calls.length; at += CALLS_PER_CHECK) {
      const some = calls.slice(at, at + CALLS_PER_CHECK);
      // In a function each, since what follows a call that never returns is not checked.
      const code = some.map((call) => `void (() => ${call}(...([] as any[])));`).join("\n");
      const findings = await checker.check({ code, tools: [] });
      unknown.push(...findings.map(({ line = 1, message }) => `${some[line - 1]}: ${message}`));
    }
    expect(unknown).toEqual([]);
  } finally {
    await checker.dispose();
    await agent.dispose();
    await rm(folder, { recursive: true, force: true });
  }
});
