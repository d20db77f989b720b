import { expect, it } from "vitest";
import { withProblems } from "./catalog.ts";

it("says why a server is unknown: its files are broken, or its folder is not trusted", () => {
  const finding = (name: string) => ({
    rule: "unknown-server",
    severity: "error" as const,
    message: `There is no server "${name}" with usable tools.`,
  });
  const verdict = { allowed: false, findings: ["broken", "held", "other"].map(finding) };
  const explained = withProblems(verdict, [
    { server: "broken", file: "/servers/broken/index.ts", message: "It can't be read." },
    {
      server: "",
      file: "/config.yaml",
      servers: ["a", "held"],
      message: "/here is not trusted, so held back: MCP server a, 1 more.",
    },
  ]);
  expect(explained.findings.map(({ hint }) => hint)).toEqual([
    "It can't be read.",
    "/here is not trusted, so held back: MCP server a, 1 more.",
    undefined,
  ]);
});
