import { Icon } from '@switchyard/design/icon.tsx';
import type { ReactNode } from 'react';
import { SearchField } from '../../../ui/forms/search-field.tsx';
import { DropMenu } from '../../../ui/menu.tsx';
import styles from './filter-bar.module.css';
import { type FilterContext, FilterEditor } from './filter-editor.tsx';
import { FILTERS, type FilterName, formatFilter } from './filter-names.ts';
import type { FilterChange, RunFilters } from './runs-search.ts';

interface FilterBarProps {
  filters: RunFilters;
  onChange: (change: FilterChange) => void;
  context: FilterContext;
  /** The filter whose editor is open, and the name of the indicator or option that it begins with. */
  edited: EditedFilter | undefined;
  onEdit: (edited: EditedFilter | undefined) => void;
}

/** A filter whose editor is open. */
export interface EditedFilter {
  name: FilterName;
  /** The indicator or option. */
  of?: string;
}

/** The filters of the runs table as chips. Each is a search parameter of the same meaning. */
export function FilterBar({ filters, onChange, context, edited, onEdit }: FilterBarProps) {
  const active = FILTERS.filter(({ name }) => formatFilter(name, filters) !== '' || edited?.name === name);
  const others = FILTERS.filter((one) => !active.includes(one));
  return (
    <search className={styles.filters} aria-label="Filters">
      <SearchField
        label="Search"
        example="Name, id or description"
        value={filters.text}
        onChange={(text) => onChange({ text })}
      />
      {active.map(({ name, label }) => (
        <Chip
          key={name}
          label={label}
          text={formatFilter(name, filters)}
          isOpen={edited?.name === name}
          // An editor that a header has opened begins with the indicator of its column.
          onOpenChange={(isOpen) =>
            isOpen !== (edited?.name === name) && onEdit(isOpen ? { name } : undefined)
          }
          onRemove={() => onChange(name === 'created' ? NO_WINDOW : { [name]: undefined })}
        >
          <FilterEditor
            name={name}
            of={edited?.of}
            filters={filters}
            context={context}
            onChange={onChange}
            onClose={() => onEdit(undefined)}
          />
        </Chip>
      ))}
      {others.length > 0 && (
        <DropMenu
          className={`${styles.chip} ${styles.add}`}
          from="start"
          button={
            <>
              <Icon name="add" /> Filter
            </>
          }
        >
          {others.map(({ name, label }) => (
            <button key={name} type="button" onClick={() => onEdit({ name })}>
              {label}
            </button>
          ))}
        </DropMenu>
      )}
    </search>
  );
}

const NO_WINDOW: FilterChange = { within: undefined, from: undefined, to: undefined };

interface ChipProps {
  label: string;
  text: string;
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  onRemove: () => void;
  children: ReactNode;
}

function Chip({ label, text, isOpen, onOpenChange, onRemove, children }: ChipProps) {
  return (
    <span className={styles.chip}>
      <DropMenu
        form={`Filter by ${label.toLowerCase()}`}
        from="start"
        isOpen={isOpen}
        onOpenChange={onOpenChange}
        className={styles.edit}
        button={
          <>
            {label} <b title={text}>{text}</b>
          </>
        }
      >
        <div className={styles.editor}>{children}</div>
      </DropMenu>
      {text !== '' && (
        <button
          type="button"
          className={styles.remove}
          aria-label={`Remove the filter ${label}`}
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}
