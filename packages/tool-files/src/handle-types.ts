import { asEntries, isRecord, own } from "./schema-reader.ts";

/** Schemas nested deeper are left as they are. */
const MAX_DEPTH = 60;
/** Keywords whose values are data and no subschemas. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/**
 * Copies an output schema with handles in place of the bytes that its results hold: code receives an image, audio or a
 * resource with bytes as the path of a file, whether it came as content or inside structured content.
 *
 * @returns the schema itself where it describes no such part.
 */
export function withHandles(schema: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH || typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) {
    const items = schema.map((item) => withHandles(item, depth + 1));
    return items.every((item, index) => item === schema[index]) ? schema : items;
  }
  const handle = handleOf(schema);
  if (handle !== undefined) return handle;
  const entries = asEntries(schema);
  const mapped = entries.map(([key, value]) => [key, DATA.has(key) ? value : withHandles(value, depth + 1)]);
  const isSame = entries.every(([, value], index) => value === mapped[index]?.[1]);
  return isSame ? schema : Object.fromEntries(mapped);
}

/** The schema of what code receives for a content part with bytes. `undefined` for any other schema. */
function handleOf(schema: object): object | undefined {
  const properties = own(schema, "properties");
  const type = own(own(properties, "type"), "const");
  if (type === "image" || type === "audio") {
    return isRecord(own(properties, "data")) ? handleSchema(type) : undefined;
  }
  // A resource may hold a text instead.
  if (type === "resource" && isRecord(own(properties, "resource"))) {
    return { anyOf: [handleSchema(type), schema] };
  }
  return undefined;
}

function handleSchema(type: string): object {
  return {
    type: "object",
    properties: {
      type: { const: type },
      mimeType: { type: "string" },
      size: { type: "integer", description: "Bytes." },
      path: { type: "string", description: "The file with the bytes." },
    },
    required: ["type", "mimeType", "size", "path"],
  };
}
