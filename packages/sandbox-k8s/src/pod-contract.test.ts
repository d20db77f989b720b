import { describeSandboxContract } from "@cem/sandbox/contract";
import { afterAll, beforeAll } from "vitest";
import { startCluster, type TestCluster } from "../test/cluster.ts";
import { createKubernetesProvider } from "./index.ts";
import { describeWith } from "../../../vitest.tools.ts";

// Each of its runs starts a pod, so it takes minutes: CEM_POD_CONTRACT=1 asks for it. The limit on written bytes is known
// to fail: nothing outside of a pod counts them.
describeWith("bubblewrap")("in pods", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());
  describeSandboxContract(
    "agent-sandbox",
    () =>
      createKubernetesProvider({ ...cluster.settings, standby: 1, maxConcurrentRuns: 8, reuse: "session" }),
    { level: "namespaces", network: false },
  );
});
