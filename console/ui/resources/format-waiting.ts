import { formatBytes, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Waiting } from '@switchyard/contract/runs/waiting.ts';

/** Returns the reason for waiting in a few words, from the fields of the response. */
export function formatWaiting(waiting: Waiting): string {
  const { reason, place, slots, quota, licenses, workflows, message } = waiting;
  const turn = place === 1 ? 'this run is next' : `${count(place - 1, 'run')} before it`;
  switch (reason) {
    case 'host_fault':
      return `Fault of the host: ${waiting.fault?.message ?? message}`;
    case 'no_worker':
      return `No worker has a slot for it${formatRemedy(waiting)}`;
    case 'labels_missing':
      return `No worker has the labels ${(waiting.required_labels ?? []).join(', ')}${formatRemedy(waiting)}`;
    case 'class_too_large':
      return `Every worker is too small: it needs ${formatResources(waiting.required_resources)}${formatRemedy(waiting)}`;
    case 'licenses_missing':
      return (licenses ?? [])
        .map(({ name, required, total }) => `Requires ${required} of ${total} tokens of ${name}`)
        .join('; ');
    case 'licenses_taken':
      return (licenses ?? [])
        .map(
          ({ name, used, total, required }) => `Requires ${required} of ${name}, ${used} of ${total} in use`,
        )
        .join('; ');
    case 'quota':
      return quota ? `Quota of the ${quota.owner}: ${quota.running} of ${quota.limit} runs at once` : message;
    case 'workflows_running':
      return workflows ? `${workflows.limit} workflows of level ${workflows.level} on every worker` : message;
    case 'slots_taken':
      return slots
        ? `${slots.total === 1 ? 'The slot is' : `All ${slots.total} slots are`} taken; ${turn}`
        : message;
    case 'resources_taken':
      return `No worker has ${formatResources(waiting.required_resources)} free; ${turn}`;
    case 'runs_before':
    case 'about_to_start':
      return slots
        ? `${slots.free} of ${count(slots.total, 'slot')} free; ${reason === 'runs_before' ? turn : 'about to start'}`
        : message;
    default:
      return message;
  }
}

function formatRemedy({ can_be_provisioned: isPossible }: Waiting): string {
  return isPossible ? '; the server can start one' : '';
}

function formatResources(resources: Waiting['required_resources']): string {
  return resources ? `${count(resources.cores, 'core')} and ${formatBytes(resources.memory_bytes)}` : 'more';
}

function count(value: number, noun: string): string {
  return `${formatNumber(value)} ${value === 1 ? noun : `${noun}s`}`;
}
