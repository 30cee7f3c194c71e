import { Fragment } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import styles from './keyboard-map.module.css';

const KEYS = [
  [
    'Everywhere',
    [
      [['Ctrl K', '⌘ K'], 'Command palette: pages, applications, runs by name or id'],
      [['?'], 'This map'],
      [['Esc'], 'Close what is open'],
    ],
  ],
  [
    'Tables',
    [
      [['↑', '↓'], 'Move between rows'],
      [['Home', 'End'], 'First and last row'],
      [['Enter'], 'Open the link of the row'],
    ],
  ],
  [
    'Table of runs',
    [
      [['x'], 'Select the row'],
      [['Shift ↑', 'Shift ↓'], 'Extend the selection'],
      [['Ctrl A', '⌘ A'], 'Select all rows'],
      [['Esc'], 'Clear the selection'],
    ],
  ],
  [
    'Page of a run',
    [
      [['j', 'k'], 'Next and previous run of the table, with the same tab'],
      [['←', '→'], 'Tabs, when one has the focus'],
      [['Enter', 'Shift Enter'], 'In the search of the log: next and previous match'],
    ],
  ],
  [
    'Trees and pictures',
    [
      [['↑', '↓', '←', '→'], 'Move between entries, bars and dots; open and fold'],
      [['+', '-', '0'], 'Zoom a schedule, and show all of it'],
    ],
  ],
] as const;

/** All keys of the console. */
export function KeyboardMap({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      {KEYS.map(([group, keys]) => (
        <Fragment key={group}>
          <h3>{group}</h3>
          <dl className={styles.keys}>
            {keys.map(([names, effect]) => (
              <Fragment key={effect}>
                <dt>
                  {names.map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{effect}</dd>
              </Fragment>
            ))}
          </dl>
        </Fragment>
      ))}
    </Dialog>
  );
}
