import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { loadConfig } from "../wiring/open-project.ts";
import { addServers, removeServerAndFiles, unpinnedImage, warningsOf } from "./edit-servers.ts";

const DIGEST = `@sha256:${"a".repeat(64)}`;

describe("warningsOf", () => {
  it("names the server that a name looks like, of those that are there and those that everybody knows", () => {
    expect(warningsOf("githuh", { command: "x" }, [])).toEqual([
      '"githuh" looks like "github", which is another server. Is it the one you mean?',
    ]);
    expect(warningsOf("my_crm", { url: "https://x.example" }, ["my-crm"])[0]).toContain('"my-crm"');
    expect(warningsOf("github", { command: "x" }, ["files"])).toEqual([]);
  });

  it.each([
    [["-y", "@modelcontextprotoco1/server-github"], "@modelcontextprotocol/server-github"],
    [["-y", "@modelcontextprotocol/server-githuh@1.0.0"], "@modelcontextprotocol/server-github"],
    [["-y", "@modelc\u043Entextprotocol/server-github"], "@modelcontextprotocol/server-github"],
    [["-y", "modelcontextprotocol-server-github"], "@modelcontextprotocol/server-github"],
    [["-y", "@play/wright-mcp"], "@playwright/mcp"],
    [["--from", "mcp_server_fetch==1.0", "x"], "mcp-server-fetch"],
    [["--package=mcp-rem0te", "x"], "mcp-remote"],
    [["-y", "@modelcontextprotocol/server-github@latest", "/data"], undefined],
    [["-y", "mcp-remote", "https://x.example/mcp"], undefined],
    [["-y", "@acme/mcp-server"], undefined],
    [["./playwright-mcp", "/opt/mcp_remote"], undefined],
  ])("of the words %j finds a package like %s", (args, other) => {
    const warnings = warningsOf("mine", { command: "npx", args }, []);
    expect(warnings.map((text) => /looks like "(.*?)"/u.exec(text)?.[1])).toEqual(
      other === undefined ? [] : [other],
    );
  });

  it("finds a package or an image that looks like one of another server", () => {
    const words = [
      "-y",
      "@acme/crm-server@2.0.0",
      "run",
      "-i",
      "ghcr.io/acme/tickets:1.4",
      "/data/acme-files",
    ];
    const others = (args: string[]): (string | undefined)[] =>
      warningsOf("mine", { command: "npx", args }, [], words).map(
        (text) => /looks like "(.*?)"/u.exec(text)?.[1],
      );
    expect(others(["-y", "@acme/crm-servor"])).toEqual(["@acme/crm-server"]);
    expect(others(["-y", "acme-crm-server"])).toEqual(["@acme/crm-server"]);
    expect(others(["run", "ghcr.io/acrne/tickets:1.4"])).toEqual(["ghcr.io/acme/tickets"]);
    const program = (file: string): string => `require("fs").writeFileSync("/tmp/${file}", "")`;
    expect(warningsOf("mine", { args: ["-e", program("one")] }, [], ["-e", program("ones")])).toEqual([]);
    expect(others(["ran", "@acme/crm-server@3.0.0", "ghcr.io/acme/tickets:2", "acme-file"])).toEqual([]);
  });

  it.each([
    [["run", "-i", "--rm", "mcp/github"], "mcp/github"],
    [
      ["run", "-it", "-e", "TOKEN", "--env-file", "x", "-v", "/a:/b", "ghcr.io/x/y:1.2", "stdio"],
      "ghcr.io/x/y:1.2",
    ],
    [["container", "run", "--network=none", "--name", "n", "mcp/fetch", "--flag"], "mcp/fetch"],
    [["run", "-i", "--rm", `mcp/github${DIGEST}`], undefined],
    [["run", "-i", "--rm", `mcp/github:1.0${DIGEST}`, "mcp/other"], undefined],
    [["compose", "up"], undefined],
  ])("of docker %j finds %s to be unpinned", (args, image) => {
    expect(unpinnedImage({ command: "/usr/bin/docker", args })).toBe(image);
    expect(unpinnedImage({ command: "npx", args })).toBeUndefined();
    expect(warningsOf("mine", { command: "docker", args }, [])).toHaveLength(image === undefined ? 0 : 1);
  });
});

describe("addServers", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("loses none of those that are added and removed at once", async () => {
    const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-add-"));
    vi.stubEnv("XDG_CONFIG_HOME", path.join(cwd, "home"));
    const entry = { command: process.execPath, args: ["server.mjs"] };
    const add = (name: string) => addServers([{ name, entry }], { cwd });
    const names = ["a", "b", "c", "d"];
    await add("old");
    await Promise.all([...names.map(add), removeServerAndFiles("old", { cwd })]);
    const { config, trust } = await loadConfig({ cwd, trustFolder: false });
    expect(config.mcpServers.map(({ name }) => name).toSorted()).toEqual(names);
    expect(trust.held).toEqual([]);
  });
  it("tells which secrets the file holds now", async () => {
    const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-add-"));
    vi.stubEnv("XDG_CONFIG_HOME", path.join(cwd, "home"));
    const env = { API_KEY: "sk-1234", B_TOKEN: "${B_TOKEN}", FILE: "m.json" };
    const auth = { client_id: "app-1", client_secret: "s3cret-12" };
    const entries = {
      mine: { command: "x", env },
      plain: { command: "x" },
      remote: { url: "https://x.example", auth },
    };
    const servers = Object.entries(entries).map(([name, entry]) => ({ name, entry }));
    const { warnings } = await addServers(servers, { cwd });
    expect(warnings).toEqual([
      expect.stringMatching(/^config\.yaml holds API_KEY of "mine"\..*\.env\.$/u),
      expect.stringMatching(/^config\.yaml holds client_secret of "remote"\./u),
    ]);
  });
});
