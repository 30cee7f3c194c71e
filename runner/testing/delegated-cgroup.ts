/**
 * A process that is started in a group of version 2, and tries for one controller what the runner tries for its own.
 * Arguments: controller, the file by which a child shows that it has it. Prints what came of it as JSON.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { listCgroupHierarchies } from '../process/cgroup-hierarchies.ts';
import { probeControllers } from '../sandbox/run-cgroups.ts';

const [controller = '', knob = ''] = process.argv.slice(2);
const find = () => listCgroupHierarchies().find(({ version }) => version === 2);
const before = find();
if (before === undefined) throw new Error('There is no version 2 here.');
const held = await probeControllers(before, [controller], '0123456789abcdef', (folder) =>
  existsSync(join(folder, knob)),
);
process.stdout.write(JSON.stringify({ held, before: before.ownFolder, after: find()?.ownFolder }));
