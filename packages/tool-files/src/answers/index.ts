export { answerOf, messageOf, shortenOutput } from "./answer.ts";
export type { Answer, AnswerData, AnswerSettings, HintFor } from "./answer.ts";
export { attachmentsOf, MAX_ATTACHMENT_BYTES } from "./attachments.ts";
export type { Attachment } from "./attachments.ts";
export { approvalRemark, FAILED_TOOLS, HOW_TO_CODE, signaturesOf } from "./signatures.ts";
export type { ListSettings, SignatureList } from "./signatures.ts";
