const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are arent as at be because been before being below between
  both but by can cannot cant could couldnt did didnt do does doesnt doing done dont down during each either else
  ever for from further had hadnt has hasnt have havent having he her here hers herself him himself his how however
  i id if ill im in into is isnt it its itself ive just kindly let lets ll may me might more most must my myself
  neither no nor not now of off on once only onto or other others our ours ourselves out over own per please s same
  shall she should shouldnt since so some such t than thank thanks that the their theirs them themselves then there
  these they this those though through thru to too under until up upon us very via was wasnt we were werent what
  whatever when where whether which while who whom whose why will with within without wont would wouldnt you your
  youre yours yourself yourselves`.split(/\s+/),
);

/** Whether a lower-case English word is a stop word: `the`, `please`, `would`. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
