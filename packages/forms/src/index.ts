export { defineForm, parseForm } from "./form/parse-form.ts";
export type { DefinitionProblem, ParseFormOptions } from "./form/parse-form.ts";
export type {
  Condition,
  FieldType,
  Form,
  FormField,
  FormSource,
  FormTargetDefinition,
} from "./form/form-schema.ts";
export { createFormFiller, fillForm } from "./filling/form-filler.ts";
export type { FillOptions, FormFiller, FormFillerSettings } from "./filling/form-filler.ts";
export type { FormResult, MissingField, ReadBack } from "./filling/result.ts";
export { createFormStepKind } from "./step-kind.ts";
export type { FormStepSettings } from "./filling/run-form-step.ts";
export type { CallTool, TargetSettings } from "./filling/targets.ts";
export type { BrowserSettings } from "./web/browser.ts";
export type {
  FieldReading,
  FilledField,
  FillOutcome,
  FillRequest,
  FormTarget,
  TargetProblem,
} from "./targets/target.ts";
export { checkValue } from "./form/field-values.ts";
export type { FieldValue } from "./form/field-values.ts";
export { FORM_SERVER } from "./filling/collected-values.ts";
