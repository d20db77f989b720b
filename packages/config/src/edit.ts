import { CemError } from "@cem/core";
import { isMap, isSeq, parseDocument, type Document, type YAMLMap, type YAMLSeq } from "yaml";
import { checkLayer } from "./check.ts";
import { originIn, parseConfig } from "./config-file.ts";
import type { ConfigProblem } from "./layer.ts";

export { editInTurn } from "./config-file.ts";

const KEYS = ["mcp_servers", "mcpServers"];

/** The entry of a server in config.yaml. */
export type ServerEntry = Readonly<Record<string, unknown>>;

/**
 * Adds an MCP server to the text of a config.yaml, as a list item or mapping entry like the servers already there.
 * Comments and all other settings are kept.
 *
 * @returns the new text.
 * @throws CemError `SERVER_EXISTS`, or `CONFIG_INVALID` for a text that is not a mapping in YAML.
 */
export function addServer(yaml: string, name: string, entry: ServerEntry): string {
  const document = parse(yaml);
  const { key, servers } = find(document);
  if (isSeq(servers) && servers.items.length > 0) {
    if (indexIn(servers, name) !== -1) throw serverExists(name);
    servers.add(document.createNode({ name, ...entry }));
  } else if (isMap(servers) && servers.items.length > 0) {
    if (servers.has(name)) throw serverExists(name);
    servers.set(document.createNode(name), document.createNode(entry));
  } else {
    const map = document.createNode({ [name]: entry });
    if (document.contents === null) document.contents = document.createNode({});
    document.set(key, map);
  }
  return print(document);
}

/**
 * Removes an MCP server from the text of a config.yaml. Comments and all other settings are kept.
 *
 * @returns the new text, or `undefined` when the server is not in it.
 * @throws CemError `CONFIG_INVALID` for a text that is not a mapping in YAML.
 */
export function removeServer(yaml: string, name: string): string | undefined {
  const document = parse(yaml);
  const { key, servers } = find(document);
  if (isSeq(servers)) {
    const index = indexIn(servers, name);
    if (index === -1) return undefined;
    servers.delete(index);
  } else if (!isMap(servers) || !servers.delete(name)) return undefined;
  if (servers.items.length === 0) document.delete(key);
  return print(document);
}

/**
 * Exempts a server's tools from approval in the text of a config.yaml. Comments and all other settings are kept.
 *
 * @returns the new text.
 * @throws CemError `CONFIG_INVALID` for a text that is not a mapping in YAML.
 */
export function exemptServer(yaml: string, name: string): string {
  const document = parse(yaml);
  extendGuardrail(document, "approvals", [`!${name}`], ["destructive"]);
  return print(document);
}

/**
 * Adds tools to those that code may not call, in the text of a config.yaml. Comments and all other settings are kept.
 *
 * @param tools - Patterns, such as `files.delete`.
 * @returns the new text.
 * @throws CemError `CONFIG_INVALID` for a text that is not a mapping in YAML.
 */
export function blockTools(yaml: string, tools: readonly string[]): string {
  if (tools.length === 0) return yaml;
  const document = parse(yaml);
  extendGuardrail(document, "blocked_tools", tools);
  return print(document);
}

/** @param standard - What the list has where it is not set. */
function extendGuardrail(
  document: Document,
  key: string,
  added: readonly string[],
  standard: readonly string[] = [],
): void {
  const list = document.getIn(["guardrails", key], true);
  if (isSeq(list)) for (const item of added) list.add(item);
  else {
    if (!isMap(document.get("guardrails", true))) document.set("guardrails", document.createNode({}));
    document.setIn(["guardrails", key], document.createNode([...standard, ...added], { flow: true }));
  }
}

function parse(yaml: string): Document {
  const document = parseDocument(yaml);
  const [error] = document.errors;
  const isEditable = error === undefined && (document.contents === null || isMap(document.contents));
  if (isEditable) return document;
  // The parser's own messages are not shown: they can quote the file, which may hold a secret.
  const why = error === undefined ? "is not a mapping of settings" : `is not valid YAML (${error.code})`;
  throw new CemError("CONFIG_INVALID", `The configuration ${why}, so it can't be edited.`);
}

function find(document: Document): { key: string; servers: YAMLMap | YAMLSeq | undefined } {
  const key = KEYS.find((candidate) => document.has(candidate)) ?? "mcpServers";
  const servers: unknown = document.contents === null ? undefined : document.get(key, true);
  return { key, servers: isMap(servers) || isSeq(servers) ? servers : undefined };
}

function indexIn(servers: YAMLSeq, name: string): number {
  return servers.items.findIndex((item) => isMap(item) && item.get("name") === name);
}

function print(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

function serverExists(name: string): CemError {
  return new CemError("SERVER_EXISTS", `There is a server "${name}" already.`, { details: { server: name } });
}

/**
 * Finds the problems of the text of a config.yaml.
 *
 * @param file - The name that problems give as their origin.
 */
export async function findProblems(yaml: string, file: string): Promise<ConfigProblem[]> {
  try {
    const layer = await parseConfig(yaml, originIn(file));
    return [...layer.problems, ...checkLayer(layer)];
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    return error.details["problems"] as ConfigProblem[];
  }
}
