/** Words as the search compares them. Pure: a text gives the same words in the index and in a question. */
import { stemmer } from 'stemmer';

/** Words every page has; a question that has others is not asked for them. */
const COMMON = new Set(
  (
    'a about above after again against all am an and any are as at be because been before being below ' +
    'between both but by can could did do does doing down during each few for from further had has ' +
    'have having he her here hers him his how i if in into is it its just me more most my no nor not ' +
    'now of off on only or other our ours out over same shall she should so some such than that the ' +
    'their theirs them then there these they this those through to too under until up us very was we ' +
    'were what when where which while who whom why will with would you your yours'
  ).split(' '),
);

/** Letters and digits; what joins them in names such as next_page_token, app.yaml or status_v2 is kept too. */
const WORD = /[\p{L}\p{N}]+(?:[_./-][\p{L}\p{N}]+)*/gu;
const JOINT = /[_./-]/;
/** No word of the language is longer, and what is has no root worth looking for. */
const ROOT_CHARS_MAX = 40;

/** The words of a text; a joined name counts as a whole and in its parts. */
export function splitWords(text: string): string[] {
  return (text.match(WORD) ?? []).flatMap((word) =>
    JOINT.test(word) ? [word, ...word.split(JOINT)] : [word],
  );
}

/** Words of one meaning, as far as pages and readers use different ones. A word finds the others for half its worth. */
const SYNONYMS = [
  ['docker', 'container', 'podman'],
  ['gpu', 'cuda'],
  ['cron', 'schedule', 'nightly', 'periodic'],
  ['alert', 'notify', 'alarm'],
  ['failure', 'failed', 'error', 'crash'],
  ['benchmark', 'performance'],
  ['cancel', 'abort', 'stop', 'kill'],
  ['delete', 'remove'],
  ['create', 'make', 'add'],
  ['timeout', 'deadline'],
  ['authentication', 'login', 'credential'],
  ['k8s', 'kubernetes'],
  ['parameter', 'option'],
  ['artifact', 'asset'],
  ['concurrency', 'parallel'],
  ['reproducible', 'repeatable', 'deterministic'],
];

/** British spellings by the American ones, so that either finds the other. They need not be right, only alike. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/is(e|ed|er|es|ing|ation|ations)$/, 'iz$1'],
  [/yse(d|s)?$/, 'yze$1'],
  [/ours?$/, 'or'],
  [/ourable$/, 'orable'],
  [/(licen|defen|offen)ce/, '$1se'],
  [/ll(ed|er|ing)$/, 'l$1'],
  [/ogues?$/, 'og'],
  [/tre$/, 'ter'],
];

/** What a word is indexed as: small, without accents, in one spelling, and its root where that is another word. */
export function stemWord(word: string): string[] {
  const plain = word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const root = wordStem(plain);
  return root === plain ? [plain] : [plain, root];
}

/** `queued`, `queues` and `queuing` have one root, `optimise` and `optimization` too. It begins with a sign that no word has, so it is never half a word. */
export function wordStem(word: string): string {
  if (word.length < 3 || word.length > ROOT_CHARS_MAX || !/^[a-z]+$/.test(word)) return word;
  const spelled = SPELLINGS.reduce((text, [pattern, other]) => text.replace(pattern, other), word);
  return `^${stemmer(spelled)}`;
}

const synonyms = new Map<string, string[]>();
for (const words of SYNONYMS) {
  const roots = words.map(wordStem);
  for (const root of roots)
    synonyms.set(
      root,
      roots.filter((other) => other !== root),
    );
}

/** The roots of other words that mean the same. */
export function listSynonyms(word: string): readonly string[] {
  return synonyms.get(wordStem(word)) ?? [];
}

export function isStopWord(word: string): boolean {
  return COMMON.has(word);
}
