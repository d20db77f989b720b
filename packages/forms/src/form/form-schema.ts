import { z } from "zod";

const MAX_NAME_CHARACTERS = 64;
const MAX_LABEL_CHARACTERS = 200;
const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_LOCATOR_CHARACTERS = 1_000;
const MAX_PATTERN_CHARACTERS = 500;
const MAX_OPTIONS = 1_000;
const MAX_FIELDS = 500;
const MAX_SOURCES = 50;
const MAX_PAGES = 50;
const MAX_CONDITION_DEPTH = 8;

const label = z.string().trim().min(1).max(MAX_LABEL_CHARACTERS);
const description = z.string().max(MAX_DESCRIPTION_CHARACTERS);
const locator = z.string().min(1).max(MAX_LOCATOR_CHARACTERS);
const count = z.int().min(0);
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const fieldName = z
  .string()
  .max(MAX_NAME_CHARACTERS)
  .regex(/^[A-Za-z]\w*$/, "must begin with a letter, and have letters, digits and underscores only");
const toolName = z
  .string()
  .regex(/^[A-Za-z_$][\w$-]*\.[A-Za-z_$][\w$-]*$/, "must be a server and a tool with a dot between");

const option = z.union([
  scalar.transform((value) => ({ value: String(value), label: String(value) })),
  z
    .strictObject({ value: scalar, label: label.optional() })
    .transform((one) => ({ value: String(one.value), label: one.label ?? String(one.value) })),
]);

/** A condition on the values of other fields, under which a field applies. */
export type Condition =
  | z.output<typeof comparison>
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition };
export type Scalar = string | number | boolean;

const TESTS = ["equals", "not_equals", "in", "not_in", "filled"] as const;
const comparison = z
  .strictObject({
    field: fieldName,
    equals: scalar.optional(),
    not_equals: scalar.optional(),
    in: z.array(scalar).min(1).max(MAX_OPTIONS).optional(),
    not_in: z.array(scalar).min(1).max(MAX_OPTIONS).optional(),
    filled: z.boolean().optional(),
  })
  .refine((one) => TESTS.filter((test) => one[test] !== undefined).length === 1, {
    message: `needs exactly one of ${TESTS.join(", ")}`,
  });

function conditionOf(depth: number): z.ZodType<Condition> {
  if (depth === 0) return comparison;
  const inner = conditionOf(depth - 1);
  const several = z.array(inner).min(1).max(MAX_OPTIONS);
  return z.union([
    comparison,
    z.strictObject({ all: several }),
    z.strictObject({ any: several }),
    z.strictObject({ not: inner }),
  ]);
}

export const TEXTS = ["text", "textarea", "password", "email", "phone", "url"] as const;
export const NUMBERS = ["number", "integer"] as const;
export const DATES = ["date", "time", "datetime", "month", "week"] as const;
export const CHOICES = ["select", "multiselect", "radio"] as const;
const field = z.strictObject({
  name: fieldName,
  label: label.optional(),
  description: description.optional(),
  type: z.enum([...TEXTS, ...NUMBERS, ...DATES, ...CHOICES, "boolean", "color", "file"]).default("text"),
  required: z.boolean().default(false),
  /** The whole value has to match. RE2's syntax, which takes linear time. */
  pattern: z.string().min(1).max(MAX_PATTERN_CHARACTERS).optional(),
  /** The meaning of the pattern, for people. */
  pattern_hint: label.optional(),
  min: z.union([z.number(), z.string().min(1).max(MAX_NAME_CHARACTERS)]).optional(),
  max: z.union([z.number(), z.string().min(1).max(MAX_NAME_CHARACTERS)]).optional(),
  min_length: count.optional(),
  max_length: count.optional(),
  min_items: count.optional(),
  max_items: count.optional(),
  options: z.array(option).min(1).max(MAX_OPTIONS).optional(),
  /** For files: `.pdf` or `image/png`. */
  accept: z.array(z.string().min(1).max(MAX_NAME_CHARACTERS)).min(1).optional(),
  max_bytes: z.int().min(1).optional(),
  default: z.union([scalar, z.array(scalar)]).optional(),
  when: conditionOf(MAX_CONDITION_DEPTH).optional(),
  /** The kind of personal value, which keeps it from everything but the target. */
  pii: z
    .string()
    .regex(/^[A-Z][A-Z\d_]{0,31}$/, "must be upper case letters, digits and underscores, such as EMAIL")
    .optional(),
  /** How dates are written in a text field of the target: `DD.MM.YYYY`. */
  format: z.string().min(1).max(MAX_NAME_CHARACTERS).optional(),
  /** Where the field is in the target, when its label and name are not enough. */
  locate: z
    .strictObject({
      /** A CSS selector of a web page. */
      selector: locator.optional(),
      /** A CSS selector of the iframe that the field is in. */
      frame: locator.optional(),
      /** The label, a form control's name or its id in a web page; the full name of a PDF's field; an argument of a tool. */
      name: locator.optional(),
    })
    .optional(),
});

const source = z.strictObject({
  tool: toolName,
  /** Literal arguments; `{ field: name }` stands for the value of a field. */
  arguments: z.record(z.string(), z.union([z.strictObject({ field: fieldName }), z.json()])).default({}),
  /** Where in the result the value of each field is: `contact.phones.0`. */
  values: z.record(fieldName, locator),
});

const webTarget = z.strictObject({
  type: z.literal("web"),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https address" }),
  /** Origins that may be opened and loaded from, besides that of `url`. */
  allowed_origins: z
    .array(z.url({ protocol: /^https?$/, error: "must be an origin, such as https://cdn.example.com" }))
    .default([]),
  /** The button that leads to the next page, by its name. */
  next: label.optional(),
  /** The button that sends the form, by its name. Without it nothing is sent. */
  submit: label.optional(),
  /** A text that shows that the form was accepted. */
  confirmation: label.optional(),
  max_pages: z.int().min(1).max(MAX_PAGES).default(20),
});

const pdfTarget = z.strictObject({
  type: z.literal("pdf"),
  /** The form to fill, in the workspace. */
  template: locator,
  /** The filled copy, in the workspace. */
  output: locator,
  /** A TrueType or OpenType font in the workspace, for characters that the PDF's own fonts lack. */
  font: locator.optional(),
  /** Makes the filled-in values part of the pages, so that they can't be changed. */
  flatten: z.boolean().default(false),
});

const toolTarget = z.strictObject({ type: z.literal("tool"), tool: toolName });

export const formSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, "must begin with a letter, and have letters, digits, _ and - only"),
  description: description.optional(),
  version: z.union([z.string(), z.number()]).transform(String).optional(),
  fields: z.array(field).min(1).max(MAX_FIELDS),
  sources: z.array(source).max(MAX_SOURCES).default([]),
  target: z.discriminatedUnion("type", [webTarget, pdfTarget, toolTarget]).optional(),
});

/** A form: its fields, where values come from, and what is filled. */
export type Form = z.output<typeof formSchema>;
/** A field of a form. */
export type FormField = Form["fields"][number];
/** The type of a field. */
export type FieldType = FormField["type"];
export type FormSource = Form["sources"][number];
/** The target that a form fills. */
export type FormTargetDefinition = NonNullable<Form["target"]>;
export type WebTargetDefinition = Extract<FormTargetDefinition, { type: "web" }>;
export type PdfTargetDefinition = Extract<FormTargetDefinition, { type: "pdf" }>;

export function labelOf({ label: own, name }: Pick<FormField, "label" | "name">): string {
  return own ?? name;
}
