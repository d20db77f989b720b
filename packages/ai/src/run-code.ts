import { CemError, type Agent, type JsonValue } from "@cem/core";
import { answerOf, attachmentsOf, type Attachment } from "@cem/tool-files/answers";
import { approveCalled, needsYes, type ApprovedCodeOptions } from "./options.ts";

/** The result of a tool that runs code. A type alias, since an interface would not be assignable to JSON. */
export type CodeOutput = {
  success: boolean;
  /** The value, or for a large one its handle with the line of code that reads it. */
  result: JsonValue;
  output: string;
  error: string | null;
  /** The calls that were made, and other notes. */
  notes?: string;
};

/** The output of a run, and the images and files that it refers to. */
export interface CodeAnswer {
  output: CodeOutput;
  attachments: Attachment[];
}

/** Runs a model's code. Failure, refusal and empty code are reported in the answer. Throws the reason of an aborted signal. */
export async function runCode(
  agent: Agent,
  code: string,
  { run = {}, attachments = true }: ApprovedCodeOptions,
  isApproved: boolean,
  signal: AbortSignal | undefined,
): Promise<CodeAnswer> {
  const onApprove = isApproved ? approveCalled(agent, code, run.onApprove) : run.onApprove;
  try {
    const result = await agent.executeCode(code, { ...run, onApprove, signal });
    signal?.throwIfAborted();
    const answer = await answerOf(result, { results: await agent.openResults?.() });
    const notes = answer.summary === "" ? {} : { notes: answer.summary };
    return { output: { ...answer.data, ...notes }, attachments: attachments ? answer.attachments : [] };
  } catch (error) {
    if (!CemError.isInstance(error) || error.code !== "CODE_EMPTY") throw error;
    return failed(error.message);
  }
}

/** Answers kept for code that was never run, such as refused code. */
const KEPT_ANSWERS = 1_000;

// A second decision that differed from the framework's would run code as approved that nobody saw. Without an id of the
// call, as in Mastra, code that was asked about several times runs as approved only if each answer left was yes.
/** Decides once for each call whether its code needs approval. */
export function askOnce(agent: Agent, options: ApprovedCodeOptions) {
  const answersFor = new Map<string, Promise<boolean>[]>();
  const isAsked = (code: string, call = ""): Promise<boolean> => {
    const answers = answersFor.get(call + code) ?? [];
    const [known] = answers;
    if (known !== undefined && call !== "") return known;
    const answer = needsYes(agent, code, options);
    answers.push(answer);
    // It may succeed when it is asked again.
    answer.catch(() => answers.splice(answers.indexOf(answer), 1));
    answersFor.set(call + code, answers);
    const [oldest] = answersFor.keys();
    if (oldest !== undefined && answersFor.size > KEPT_ANSWERS) answersFor.delete(oldest);
    return answer;
  };
  const run = async (code: string, signal: AbortSignal | undefined, call = "") => {
    if (!answersFor.has(call + code)) await isAsked(code, call);
    const left = answersFor.get(call + code) ?? [];
    const answers = await Promise.all(left.map((answer) => answer.catch(() => false)));
    void left.splice(Math.max(0, answers.indexOf(false)), 1);
    if (left.length === 0) answersFor.delete(call + code);
    const isApproved = answers.length > 0 && !answers.includes(false);
    return runCode(agent, code, options, isApproved, signal);
  };
  return { isAsked, run };
}

/** The answer for code that was not run. */
export function failed(error: string): CodeAnswer {
  return { output: { success: false, result: null, output: "", error }, attachments: [] };
}

/** The images and files that an output refers to, for frameworks that store outputs before they show them to a model. */
export async function attachmentsFor(
  agent: Agent,
  { result }: CodeOutput,
  { attachments = true }: ApprovedCodeOptions,
): Promise<Attachment[]> {
  const results = attachments ? await agent.openResults?.() : undefined;
  return results === undefined ? [] : (await attachmentsOf(result, results)).attachments;
}

/** The base64 of an attachment. */
export function base64Of({ bytes }: Attachment): string {
  return Buffer.from(bytes).toString("base64");
}

/** A file's name for an attachment: the last part of its URI. */
export function fileNameOf({ uri }: Attachment): string {
  return uri.split("/").at(-1) || "file";
}
