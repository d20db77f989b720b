import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import { createDiscovery } from "../src/create-discovery.ts";

/** A temporary folder with files in it, removed when the test ends. */
export function makeTree(files: Record<string, string | Uint8Array>): string {
  const root = mkdtempSync(path.join(tmpdir(), "cem-discovery-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeTree(root, files);
  return root;
}

export function writeTree(root: string, files: Record<string, string | Uint8Array>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Discovers what is under `servers` and `skills` of a tree. */
export function discover(root: string): Promise<CatalogSnapshot> {
  return createDiscovery({
    serversDir: path.join(root, "servers"),
    skillsDir: path.join(root, "skills"),
  }).list();
}

/** The one tool of a file, put into a server of its own. */
export async function toolOf(code: string, more: Record<string, string> = {}): Promise<ToolDefinition> {
  const files = Object.fromEntries(
    Object.entries(more).map(([name, content]) => [`servers/sample/${name}`, content]),
  );
  const { servers, problems } = await discover(makeTree({ "servers/sample/tool.ts": code, ...files }));
  const tool = servers[0]?.tools.find(({ name }) => name === "tool");
  if (!tool) throw new Error(`no tool: ${JSON.stringify(problems)}`);
  return tool;
}
