import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { Button } from '../../ui/button.tsx';
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
  const change = (chosen: 'all' | Set<unknown>) => {
    const isChosen = (id: string) => chosen === 'all' || chosen.has(id);
    const added = columns.filter(({ id }) => isChosen(id) && !visible.includes(id));
    onChange([...visible.filter(isChosen), ...added.map(({ id }) => id)]);
  };
  return (
    <MenuTrigger>
      <Button kind="quiet">Columns</Button>
      <Popover placement="bottom end" className={styles.popover ?? ''}>
        <Menu
          aria-label="Columns"
          selectionMode="multiple"
          selectedKeys={visible}
          onSelectionChange={change}
          className={styles.menu ?? ''}
        >
          {SECTIONS.map(([kind, label]) => {
            const own = columns.filter((column) => column.kind === kind);
            if (own.length === 0) return null;
            return (
              <MenuSection key={kind} aria-label={label}>
                <Header className={styles.header ?? ''}>{label}</Header>
                {own.map((column) => (
                  <MenuItem key={column.id} id={column.id} className={styles.item ?? ''}>
                    {column.label}
                  </MenuItem>
                ))}
              </MenuSection>
            );
          })}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
