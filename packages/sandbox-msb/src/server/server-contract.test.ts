import { describeSandboxContract } from "@cem/sandbox/contract";
import { afterAll, beforeAll } from "vitest";
import { createMicrosandboxServerProvider } from "./server-provider.ts";
import { OldServer } from "../testing/old-server.ts";
import { describeWith } from "../../../../vitest.tools.ts";

// Each of its runs starts a sandbox on the server, so it takes minutes: CEM_OLD_SERVER_CONTRACT=1 asks for it.
describeWith("bubblewrap")("on a server of ours in place of an old one", () => {
  const server = new OldServer();
  beforeAll(async () => {
    await server.listen();
  });
  afterAll(() => server.close());
  describeSandboxContract(
    "an older microsandbox server",
    () => createMicrosandboxServerProvider({ url: server.url, standby: 1, maxConcurrentRuns: 8 }),
    { level: "microvm" },
  );
});
