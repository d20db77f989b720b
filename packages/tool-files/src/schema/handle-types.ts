import { isObject } from "@cem/core";
import { asEntries, asList, own } from "./keywords.ts";

const MAX_HANDLE_DEPTH = 60;
/** The types of content parts with `data`. */
const BYTES: ReadonlySet<unknown> = new Set(["image", "audio"]);
/** Keywords whose values are data, not subschemas. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** Copies an output schema with handles in place of bytes: code receives images, audio and such resources as files. */
export function withHandles(schema: unknown, depth = 0): unknown {
  if (depth > MAX_HANDLE_DEPTH || typeof schema !== "object" || schema === null) return schema;
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

/** The schema of what code receives for a content part with bytes; `undefined` for any other schema. */
function handleOf(schema: object): object | undefined {
  const properties = own(schema, "properties");
  const type = own(properties, "type");
  const types = asList(own(type, "enum")) ?? [own(type, "const")];
  const withBytes = isObject(own(properties, "data")) ? types.filter((name) => BYTES.has(name)) : [];
  if (withBytes.length > 0) {
    const handle = handleSchema(withBytes);
    const others = types.filter((name) => !BYTES.has(name));
    if (others.length === 0) return handle;
    const rest = { ...schema, properties: { ...(properties as object), type: { enum: others } } };
    return { anyOf: [handle, rest] };
  }
  // A resource may contain text instead.
  const isResource = types.includes("resource") && isObject(own(properties, "resource"));
  return isResource ? { anyOf: [handleSchema(["resource"]), schema] } : undefined;
}

function handleSchema(types: readonly unknown[]): object {
  return {
    type: "object",
    properties: {
      type: { enum: types },
      mimeType: { type: "string" },
      size: { type: "integer", description: "Bytes." },
      path: { type: "string", description: "The file with the bytes." },
    },
    required: ["type", "mimeType", "size", "path"],
  };
}
