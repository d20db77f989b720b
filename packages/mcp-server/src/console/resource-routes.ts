import { tokenizeInTurns, type JsonValue, type ToolDefinition } from "@cem/core";
import * as z from "zod";
import type { ServedClient } from "../served-client.ts";
import { saveShownState, skillsOf, stateOf, toolsOf } from "../tools/stored-tools.ts";
import { declareRoute } from "./api-route.ts";
import * as schemas from "./schemas.ts";

/** Tools, state and skills. Personal data is shown as tokens. */
export const RESOURCE_ROUTES = [
  declareRoute("GET /tools", {
    operationId: "listTools",
    summary: "List the tools by server",
    answer: schemas.Catalog,
    async handle(_, { client }, signal) {
      const { servers, problems } = await client.agent.discoverTools({ signal });
      const catalog = {
        servers: servers.map(({ tools, ...rest }) => ({ ...rest, tools: tools.map(toolOf) })),
        problems: problems.map(({ server, message }) => ({ server, message })),
      };
      return shown(catalog, client);
    },
  }),
  declareRoute("GET /tools/search", {
    operationId: "searchTools",
    summary: "Search for tools by what they do",
    input: { query: schemas.SearchQuery },
    answer: schemas.Found,
    async handle({ query: { query, limit } }, { client }, signal) {
      const notes: string[] = [];
      const onNote = (note: string): void => void notes.push(note);
      const found = await client.agent.searchTools(query, { limit, signal, onNote });
      return shown(
        { tools: found.map(({ tool, ...rest }) => ({ ...rest, tool: toolOf(tool) })), notes },
        client,
      );
    },
  }),
  declareRoute("GET /state", {
    operationId: "readState",
    summary: "Read state",
    input: { query: schemas.StateQuery },
    answer: schemas.State,
    handle: async ({ query }, { client }, signal) =>
      shown(await stateOf(client).read(query.file, { signal }), client),
  }),
  declareRoute("PUT /state", {
    operationId: "saveState",
    summary: "Replace state; given the version that was read, keys that others changed since are kept",
    input: { body: schemas.SaveState },
    answer: schemas.SavedState,
    async handle({ body: { data, file, version } }, { client }, signal) {
      const options = { file, version, signal };
      const { keptAside: _, ...saved } = await saveShownState(client, data as JsonValue, options);
      return saved;
    },
  }),
  declareRoute("GET /skills", {
    operationId: "listSkills",
    summary: "List skills and proposals",
    answer: schemas.SkillList,
    async handle(_, { client }, signal) {
      const all = await skillsOf(client).list({ tools: await toolsOf(client, signal) });
      return shown({ skills: all.map(({ provenance: _provenance, ...skill }) => skill) }, client);
    },
  }),
  declareRoute("GET /skills/{name}", {
    operationId: "getSkill",
    summary: "Read a skill",
    input: { params: z.object({ name: z.string() }) },
    answer: schemas.SkillDetails,
    async handle({ params: { name } }, { client }, signal) {
      const tools = await toolsOf(client, signal);
      const { provenance: _, ...skill } = await skillsOf(client).get(name, { tools });
      return shown(skill, client);
    },
  }),
];

/** Stored data, with values replaced by tokens. */
export async function shown<Data>(data: Data, { redactor, session }: ServedClient): Promise<Data> {
  return redactor === undefined ? data : tokenizeInTurns(redactor, data, { session });
}

function toolOf(tool: ToolDefinition): schemas.Tool {
  const { server, name, description, signature, module, annotations, unavailable, flags = [] } = tool;
  return {
    server,
    name,
    description,
    signature,
    module,
    readOnly: annotations?.readOnlyHint === true,
    ...(unavailable !== undefined && { unavailable: unavailable.message }),
    warnings: flags.map(({ rule, place }) => `${rule} in ${place}`),
  };
}
