/**
 * `npm run laws -- <path>` prints every violation of a baselined law below a path, or all of them. `npm run laws --
 * update` lowers the baselines to the present counts. `update --raise` also raises them, which needs a reason in the
 * commit. `npm run laws -- sizes` prints the sizes of the tree with their ceilings.
 */
import { BASELINED_LAWS } from './baselined-laws.ts';
import { countByFile, readBaseline, updateBaseline, writeBaseline } from './baselines.ts';
import { computeCeiling, measureSizes } from './sizes.ts';
import { readTextFiles } from './source-files.ts';
import { formatViolation } from './violation.ts';

const [command = '', flag] = process.argv.slice(2);
const sources = readTextFiles();
const SIZES = { name: 'sizes' };

if (command === 'update') {
  for (const law of BASELINED_LAWS) {
    const counts = countByFile(law.findViolations(sources));
    writeBaseline(law, updateBaseline(counts, readBaseline(law), { mayRaise: flag === '--raise' }));
  }
  const ceilings = Object.entries(measureSizes(sources)).map(([name, size]) => [
    name,
    computeCeiling(name, size),
  ]);
  writeBaseline(
    SIZES,
    updateBaseline(Object.fromEntries(ceilings), readBaseline(SIZES), { mayRaise: flag === '--raise' }),
  );
} else if (command === 'sizes') {
  const ceilings = readBaseline(SIZES);
  for (const [name, size] of Object.entries(measureSizes(sources)))
    console.log(`${name}: ${size}, at most ${ceilings[name] ?? 0}`);
} else {
  const folder = command.replace(/\/$/, '');
  const isBelow = (path: string) => folder === '' || path === folder || path.startsWith(`${folder}/`);
  for (const law of BASELINED_LAWS) {
    const found = law.findViolations(sources).filter(({ path }) => isBelow(path));
    for (const violation of found) console.log(`${law.name}: ${formatViolation(violation)}`);
    console.log(`${law.name}: ${found.length} violations`);
  }
}
