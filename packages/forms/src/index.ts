export { defineForm, parseForm } from "./parse-form.ts";
export type { DefinitionProblem, ParseFormOptions } from "./parse-form.ts";
export { FIELD_TYPES } from "./form-schema.ts";
export type {
  Condition,
  FieldType,
  Form,
  FormField,
  FormSource,
  FormTargetDefinition,
} from "./form-schema.ts";
export { createFormFiller, fillForm } from "./form-filler.ts";
export type { FillOptions, FormFiller, FormFillerSettings } from "./form-filler.ts";
export type { FormResult, MissingField, ReadBack } from "./result.ts";
export { createFormStepKind } from "./step-kind.ts";
export type { FormStepSettings } from "./step-kind.ts";
export { createToolTarget } from "./tool-target.ts";
export type { CallTool, ToolTargetSettings } from "./tool-target.ts";
export type { TargetSettings } from "./targets.ts";
export type { BrowserSettings } from "./web/browser-settings.ts";
export type {
  FieldReading,
  FilledField,
  FillOutcome,
  FillRequest,
  FormTarget,
  TargetProblem,
} from "./target.ts";
export type { FieldValue } from "./conditions.ts";
export { FORM_SERVER } from "./personal-values.ts";
