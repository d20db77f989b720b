/** Verbs that always begin a step after "and" or a comma. */
const PLAIN_VERBS = new Set(
  `add adjust alter append apply approve archive arrange ask assign attach average be book build buy calculate call cancel
  capture change classify close collect combine commit compare compile complete compress compute concatenate confirm
  continue convert copy create deduct delete deploy describe determine divide download double draw edit email
  enable encode decode encrypt decrypt ensure enter evaluate exclude execute export extract fetch filter finalize find
  finish fix follow format generate get give halve identify ignore import include increase decrease
  increment decrement initialize insert inspect invite invoke join keep launch load locate log look
  make merge modify move multiply notify obtain omit open order pay perform pick play post predict prepare
  print produce provide publish pull push put query quadruple raise read rebase reboot recall receive record
  reduce refresh register reject release remind remove rename repeat replace reply report request reserve reset
  resolve restart restore retrieve return reverse round run save say scan schedule search select send
  set share shorten show skip solve sort split square start stop store submit subscribe subtract sum
  summarise summarize switch take tell terminate test tip total transfer transform translate triple
  truncate turn unsubscribe update upload use validate verify view visit wait warn write zip double-check
  re-read reread`.split(/\s+/),
);

/** Verbs that are also nouns: they begin a step only when an object follows. */
const NOUN_LIKE = new Set(
  `average book build call check close count display double draw email enter estimate fix forecast format
  group head input label limit link list log look map mark mean message move name note open order output
  plan play plot post present print project query rank rate record release reply report request return review
  round run sample save score search set share show sort split square start state stop store sum summary
  switch tag take test tip total transfer turn update use view visit watch zip cut drop`.split(/\s+/),
);

const LEADING = new Set(
  `please also then finally next now afterwards first firstly second secondly third thirdly lastly
  kindly just simply again subsequently`.split(/\s+/),
);

const OBJECT =
  /^(?:the|an?|all|it|them|that|this|these|those|its|their|each|every|both|any|by|for|to|from|in|on|with|only|my|our|your|me|us|up|down|out|back|how|what|which|whether|if|top|first|last|again|of|as|at|one|two|three|five|ten|results?|everything|contents?)\b|^["'`“‘«/#@\d·$({[-]|^\p{Lu}/u;
/** Verbs that may stand without an object. */
const ALONE = new Set(
  "save print stop continue finish sort compare display return log summarize summarise".split(" "),
);
/** Words that name a field when a plain value follows: `count 0`, `name "x"`. */
const FIELD_LIKE = new Set(
  "average count email label limit message name note order score state sum tag test title total rank rate record start end close open group".split(
    " ",
  ),
);
const LITERAL_ONLY =
  /^(?:-?\d[\d.,]*|["'`][^"'`]*["'`]|\[[^\]]*\]|\{[^}]*\}|true|false|null)\s*(?:$|[,;.]|\band\b)/u;
const CLEARLY_NOUN = /^(?:of|is|are|was|were|as)\b/u;

/** A question that is a step: "… and what is the weather in Oslo?". */
const QUESTION =
  /^(?:(?:what|who|where)(?:['’]s|\s+(?:is|are|was|were))|how\s+(?:many|much)|how\s+\p{L}+\s+(?:is|are)|which\s+\p{L}+\s+(?:is|are|has|have|do)|is\s+it)\b/iu;

/** Whether the words after a separator begin a new step: "save it". `ownVerbs` begin one in addition to common verbs. */
export function beginsStep(words: string, ownVerbs: ReadonlySet<string> = new Set()): boolean {
  let rest = words.trimStart().slice(0, 200);
  for (;;) {
    const word = /^[\p{L}-]+/u.exec(rest)?.[0];
    if (word === undefined) return false;
    if (QUESTION.test(rest)) return true;
    const after = rest.slice(word.length).replace(/^[,:]?\s+/u, "");
    const verb = word.toLowerCase();
    if (LEADING.has(verb)) {
      rest = after;
      continue;
    }
    if (CLEARLY_NOUN.test(after)) return false;
    if (after === "") return ALONE.has(verb);
    if (FIELD_LIKE.has(verb) && LITERAL_ONLY.test(after)) return false;
    if (NOUN_LIKE.has(verb)) return OBJECT.test(after) || /^\w+ (?:by|in|on|to|of|for|from) /u.test(after);
    return PLAIN_VERBS.has(verb) || ownVerbs.has(verb);
  }
}

/** Whether a word is one of the common English verbs that begin a step. */
export function isVerb(word: string): boolean {
  const verb = word.toLowerCase();
  return PLAIN_VERBS.has(verb) || NOUN_LIKE.has(verb);
}
