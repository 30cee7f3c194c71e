/**
 * Fixture: probes one controller in the version 2 group in which it was started, as the runner does for its own.
 * Arguments: controller, file of a child group that has it. Prints the result as JSON.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { listCgroupHierarchies } from '../process/cgroup-hierarchies.ts';
import { probeControllers } from '../sandbox/run-cgroups.ts';

const [controller = '', controllerFile = ''] = process.argv.slice(2);
const findHierarchy = () => listCgroupHierarchies().find(({ version }) => version === 2);
const before = findHierarchy();
if (before === undefined) throw new Error('This host has no cgroup hierarchy of version 2.');
const held = await probeControllers(before, [controller], '0123456789abcdef', (folder) =>
  existsSync(join(folder, controllerFile)),
);
process.stdout.write(JSON.stringify({ held, before: before.ownFolder, after: findHierarchy()?.ownFolder }));
