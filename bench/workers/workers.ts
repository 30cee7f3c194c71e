/**
 * Measures workers on machines other than the server. It compares a run through a remote worker with one of the server's own
 * worker, and measures how long runs wait for hundreds of simulated workers. It executes the same jobs by Slurm alone, by
 * workers on Slurm, and on as many slots of this machine by Ray and by the server.
 *
 * Run it: `node bench/workers/workers.ts [--runs 1000] [--nodes 4] [--workers 1,20,200] [--seconds 10] [--rate 50] [--rounds 5]
 * [--ray yes|no] [--only cost|simulated|slurm]`. It installs Slurm on Debian and Ubuntu, as root, and Ray from PyPI.
 */
import { parseArgs } from 'node:util';
import { findSlurmProblem } from '../../server/testing/slurm/slurm-cluster.ts';
import { printLine } from '../server/harness.ts';
import { compareWithRay } from './ray.ts';
import { compareWithOwnWorker } from './remote-cost.ts';
import { simulateWorkers } from './simulated.ts';
import { CORES, compareWithSlurm } from './slurm.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    nodes: { type: 'string', default: '4' },
    workers: { type: 'string', default: '1,20,200' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '5' },
    ray: { type: 'string', default: 'yes' },
    only: { type: 'string', default: '' },
  },
});
const nodes = Number(values.nodes);
const runs = Number(values.runs);
const isWanted = (part: string): boolean => values.only === '' || values.only === part;

if (isWanted('cost'))
  await compareWithOwnWorker({ runs: Math.min(runs, 200), rounds: Number(values.rounds) });
if (isWanted('simulated'))
  for (const workers of values.workers.split(',').map(Number))
    await simulateWorkers({ workers, seconds: Number(values.seconds), rate: Number(values.rate) });
const problem = isWanted('slurm') ? await findSlurmProblem() : null;
if (problem !== null) printLine(`0 of ${runs} jobs, and no ratio, were measured on Slurm: ${problem}`);
else if (isWanted('slurm')) await compareWithSlurm({ nodes, runs });
if (isWanted('slurm') && values.ray === 'yes') await compareWithRay({ slots: nodes * CORES, runs });
