import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import styles from './sample-gallery.module.css';

const SAMPLES = [
  [
    'vehicle-routing',
    'routing',
    'Vehicle routing',
    'Plans tours with time windows, and draws them on a map.',
  ],
  ['shift-scheduling', 'shifts', 'Shift scheduling', 'Assigns people to shifts with an integer program.'],
  ['bin-packing', 'packing', 'Bin packing', 'Packs items into the fewest bins, with a bound.'],
  ['knapsack-python', 'knapsack', 'Knapsack in Python', 'Chooses projects within a budget.'],
  [
    'order-batching-native',
    'batching',
    'Order batching',
    'Groups the orders of a warehouse, as a native program.',
  ],
] as const;

/** The page of an account without an application: the sample apps as commands. */
export function SampleGallery() {
  return (
    <>
      <EmptyState title="No application yet" command="npm run push -- path/to/app my-app">
        <p>
          An application holds the versions and runs of one decision model. Push yours, or start with a
          sample.
        </p>
      </EmptyState>
      <h2 className={styles.heading}>Sample apps</h2>
      <ul className={styles.gallery}>
        {SAMPLES.map(([folder, id, name, description]) => (
          <Sample
            key={id}
            name={name}
            description={description}
            command={`npm run push -- sample-apps/${folder} ${id}`}
          />
        ))}
      </ul>
    </>
  );
}

function Sample({ name, description, command }: { name: string; description: string; command: string }) {
  return (
    <li className={styles.sample}>
      <h3>{name}</h3>
      <p>{description}</p>
      <p className={styles.command}>
        <code>{command}</code>
        <CopyButton text={command} label={`Copy the command for ${name}`} />
      </p>
    </li>
  );
}
