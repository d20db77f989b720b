import { readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { systemErrorOf } from "./errors.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

vi.setConfig({ testTimeout: 120_000 });

function failure(code: string, syscall: string, file: string): Error {
  return Object.assign(new Error(`${code}: failed, ${syscall} '${file}'`), { code, syscall, path: file });
}

describe("what a new user sees", () => {
  it("is a short configuration whose every line has an effect or stands behind a #", async () => {
    const cwd = temporaryFolder();
    expect(await runCem(["init"], { cwd })).toMatchObject({ code: 0, stderr: "" });
    const config = readFileSync(path.join(cwd, "config.yaml"), "utf8");
    expect(config.split("\n").length).toBeLessThan(60);
    expect((await runCem(["doctor"], { cwd })).stdout).toMatch(/config +config\.yaml +ok/u);
    writeFileSync(
      path.join(cwd, "config.yaml"),
      config.replaceAll(
        /^ {2}# (?=(?:enabled|provider|model|file|mount_directories|allowed_networks): )/gmu,
        "  ",
      ),
    );
    expect((await runCem(["tools"], { cwd })).stderr).not.toContain("config.yaml:");
  });

  it.each<[argv: string[], expected: string]>([
    [["add", "fs", "npx", "-y", "server", "."], "cem add fs -- npx -y server ."],
    [["add", "--env", "A=b", "fs", "npx", "-y", "server"], 'A command goes after "--"'],
    [["add", "--", "npx", "-y", "server"], 'The name of the server goes before "--"'],
    [["add", "remote", "https://x.example/mcp", "more"], 'A URL takes no arguments, and there is "more".'],
  ])("is told how to write %j", async (argv, expected) => {
    const { code, stderr } = await runCem(argv, { cwd: temporaryFolder() });
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });

  it("may put -- before a command, as package managers do", async () => {
    const ended = await runCem(["--", "init", "--json", "here"], { cwd: temporaryFolder() });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "success" });
  });

  it("is told once per run that Azure's variables alone call no model", async () => {
    const env = { AZURE_OPENAI_ENDPOINT: "https://a.example" };
    const cwd = temporaryFolder();
    const told = await runCem(["run", "Calculate 5 + 3"], { cwd, env });
    expect(told.stderr.match(/AZURE_OPENAI_ENDPOINT {2}is set, but no model is asked/gu)).toHaveLength(1);
    const decided = await runCem(["run", "Calculate 5 + 3"], { cwd, env: { ...env, LLM_ENABLED: "false" } });
    expect(decided.stderr).toBe("");
    expect((await runCem(["run", "--quiet", "Calculate 5 + 3"], { cwd, env })).stderr).toBe("");
  });

  it("is told which setting allows what the sandbox denies, and who asked for one that can't start", async () => {
    const cwd = temporaryFolder();
    const denied = await runCem(["exec", "-"], {
      cwd,
      input: 'return (await fetch("http://a.example")).status;',
    });
    expect(denied.stdout + denied.stderr).toMatch(/Allow it with\s+execution\.allow_network_access: true/u);
    expect(denied.stdout + denied.stderr).not.toContain("--allow-");
  });
});

describe("systemErrorOf", () => {
  it.each([
    ["EACCES", "mkdir", "/x/servers", "NOT_WRITABLE", "/x/servers can't be written: permission was denied."],
    [
      "EROFS",
      "open",
      "/x/.cem-0a.tmp",
      "NOT_WRITABLE",
      "/x can't be written: it is on a file system that is read-only.",
    ],
    ["ENOSPC", "write", "/x/a", "NOT_WRITABLE", "/x/a can't be written: the disk is full."],
    [
      "EACCES",
      "scandir",
      "/proc/self/fd/22/sessions",
      "FILE_UNREADABLE",
      "sessions can't be read: permission was denied.",
    ],
    ["EEXIST", "mkdir", "/x", "NOT_WRITABLE", "/x can't be written: a file stands where a folder should be."],
    ["EACCES", "open", "/x/config.yaml", "FILE_UNREADABLE", "/x/config.yaml can't be opened"],
  ])("explains %s of %s", (code, syscall, file, expected, message) => {
    const error = systemErrorOf(failure(code, syscall, file));
    expect(error?.code).toBe(expected);
    expect(error?.message).toContain(message);
  });

  it("names the variable that moves the user's own folder", () => {
    const config = path.join(process.env["XDG_CONFIG_HOME"] ?? path.join(os.homedir(), ".config"));
    for (const folder of [config, path.join(config, "cem")])
      expect(systemErrorOf(failure("EACCES", "mkdir", folder))?.message).toMatch(
        /Set (?:XDG_CONFIG_HOME|APPDATA) to/u,
      );
  });

  it("leaves other errors alone", () => {
    expect(systemErrorOf(new TypeError("x"))).toBeUndefined();
    expect(systemErrorOf(failure("ECONNREFUSED", "connect", "/x"))).toBeUndefined();
    expect(systemErrorOf("EACCES")).toBeUndefined();
  });
});
