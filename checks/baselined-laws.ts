/** The laws with a baseline: the number of violations in each file may only fall. */
import { repeatedWords, sentenceLength } from './language/prose-laws.ts';
import { wordList } from './language/word-list.ts';
import { doubleCasts } from './structure/casts.ts';
import { functionLength, parameterCount } from './structure/functions.ts';
import { jsonParse } from './structure/json-parse.ts';
import { moduleState } from './structure/module-state.ts';
import { catchAllNames, folderSize } from './structure/names.ts';
import { unusedExports } from './structure/unused-exports.ts';
import { unusedStyles } from './structure/unused-styles.ts';
import type { Law } from './violation.ts';

export const BASELINED_LAWS: readonly Law[] = [
  wordList,
  functionLength,
  parameterCount,
  catchAllNames,
  folderSize,
  unusedExports,
  unusedStyles,
  jsonParse,
  doubleCasts,
  moduleState,
  sentenceLength,
  repeatedWords,
];
