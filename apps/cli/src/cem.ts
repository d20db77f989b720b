#!/usr/bin/env node
// This file must run on old Node.js versions far enough to report that they are too old: no static imports, plain syntax.
const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];

if (major < 22 || (major === 22 && minor < 19)) {
  const message = `cem needs Node 22.19 or newer, and this is Node ${process.versions.node}: install a newer one from https://nodejs.org.`;
  process.exitCode = 2;
  if (process.argv.includes("--json")) {
    const error = {
      code: "NODE_TOO_OLD",
      message,
      details: { found: process.versions.node, needed: "22.19.0" },
    };
    process.stdout.write(`${JSON.stringify({ status: "error", error })}\n`);
  } else {
    process.stderr.write(`${message}\n`);
  }
} else {
  // Node.js 22 warns that its SQLite is experimental, though it is the same as in Node.js 24.
  const emitWarning = process.emitWarning.bind(process);
  const warnOfOthers = (...given: Parameters<typeof emitWarning>): void => {
    if (!String(given[0]).startsWith("SQLite is an experimental feature")) emitWarning(...given);
  };
  Object.assign(process, { emitWarning: warnOfOthers });
  void import("node:module")
    .then(async (nodeModule) => {
      await useProxy(process.env);
      // Saves a fifth of the work of commands that load everything.
      nodeModule.enableCompileCache();
      return ["run", "exec", "call"].includes(process.argv[2] ?? "")
        ? import("./quick.ts")
        : import("./main.ts");
    })
    .then(({ main }) => main(process.argv.slice(2), process))
    // Exits explicitly, so that nothing keeps the process alive after its answer.
    .then((exitCode) => process.exit(exitCode));
}

/** Sends requests through the proxy of the environment, except those to this machine. Node.js does so only when told to. */
async function useProxy(environment: NodeJS.ProcessEnv): Promise<void> {
  if (!Object.keys(environment).some((name) => /^https?_proxy$/i.test(name))) return;
  const http = await import("node:http");
  // Older versions than 24.14 have only NODE_USE_ENV_PROXY.
  if (!("setGlobalProxyFromEnv" in http)) return;
  const none = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const local = none === "*" ? none : `${none},localhost,127.0.0.1,[::1],::1`;
  try {
    http.setGlobalProxyFromEnv({ ...environment, no_proxy: local });
  } catch (error) {
    process.emitWarning(`The proxy of the environment can't be used: ${String(error)}`);
  }
}
