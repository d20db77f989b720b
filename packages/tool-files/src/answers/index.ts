export { answerOf, messageOf, shortenOutput } from "./answer.ts";
export type { Answer, AnswerData, AnswerSettings, HintFor } from "./answer.ts";
export { attachmentsOf } from "./attachments.ts";
export type { Attachment } from "./attachments.ts";
export { FAILED_TOOLS, HOW_TO_CODE } from "./signatures.ts";
export { MAX_ATTACHMENT_BYTES } from "./attachments.ts";
export { approvalRemark, signaturesOf } from "./signatures.ts";
export type { ListSettings, SignatureList } from "./signatures.ts";
