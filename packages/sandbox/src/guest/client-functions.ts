import { callTool } from "./calls.ts";
import { toText } from "./primordials.ts";

// What a server offers besides tools goes to the host as calls by these reserved names.
const LIST_RESOURCES = "mcp:resources/list";
const LIST_RESOURCE_TEMPLATES = "mcp:resources/templates/list";
const READ_RESOURCE = "mcp:resources/read";
const LIST_PROMPTS = "mcp:prompts/list";
const GET_PROMPT = "mcp:prompts/get";

async function member(server: string, request: string, args: object, name: string): Promise<unknown> {
  const answer = (await callTool(server, request, args)) as Record<string, unknown>;
  return answer[name] ?? answer;
}

/** The resources that a server lists. */
export function listResources(server: string): Promise<unknown> {
  return member(server, LIST_RESOURCES, {}, "resources");
}

/** The templates of resource addresses that a server lists. */
export function listResourceTemplates(server: string): Promise<unknown> {
  return member(server, LIST_RESOURCE_TEMPLATES, {}, "resourceTemplates");
}

/** The contents of a resource: a list of texts and handles. */
export function readResource(server: string, uri: string): Promise<unknown> {
  return member(server, READ_RESOURCE, { uri: toText(uri) }, "contents");
}

/** The prompts that a server lists. */
export function listPrompts(server: string): Promise<unknown> {
  return member(server, LIST_PROMPTS, {}, "prompts");
}

/** A prompt with its arguments filled in: `{ description?, messages }`. */
export function getPrompt(server: string, name: string, args: object = {}): Promise<unknown> {
  return callTool(server, GET_PROMPT, { name: toText(name), arguments: args });
}
