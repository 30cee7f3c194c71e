import { formatButtonClass } from '../../ui/button.tsx';
import { DropMenu } from '../../ui/menu.tsx';
import type { RunColumn } from './columns.tsx';
import styles from './filters/menu.module.css';

const SECTIONS = [
  ['fact', 'Facts'],
  ['indicator', 'Indicators'],
  ['option', 'Options'],
] as const;

/** A menu that shows and hides columns. New columns are added at the end of the table. */
export function ColumnChooser({
  columns,
  visible,
  onChange,
}: {
  columns: readonly RunColumn[];
  visible: readonly string[];
  onChange: (ids: string[]) => void;
}) {
  const toggle = (id: string) =>
    onChange(visible.includes(id) ? visible.filter((one) => one !== id) : [...visible, id]);
  return (
    <DropMenu form="Columns" className={formatButtonClass('quiet')} button="Columns">
      {SECTIONS.map(([kind, label]) => {
        const own = columns.filter((column) => column.kind === kind);
        if (own.length === 0) return null;
        return (
          <fieldset key={kind} className={styles.section}>
            <legend className={styles.header}>{label}</legend>
            {own.map((column) => (
              <label key={column.id} className={styles.item}>
                <input
                  type="checkbox"
                  checked={visible.includes(column.id)}
                  onChange={() => toggle(column.id)}
                />
                {column.label}
              </label>
            ))}
          </fieldset>
        );
      })}
    </DropMenu>
  );
}
