import { FilterChips } from '../../../ui/filters/filter-chips.tsx';
import { SearchField } from '../../../ui/forms/search-field.tsx';
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
  return (
    <FilterChips
      filters={FILTERS.map((one) => ({ ...one, text: formatFilter(one.name, filters) }))}
      edited={edited?.name}
      onEdit={(name) => onEdit(name && { name })}
      onRemove={(name) => onChange(name === 'created' ? NO_WINDOW : { [name]: undefined })}
      renderEditor={(name) => (
        <FilterEditor
          name={name}
          of={edited?.of}
          filters={filters}
          context={context}
          onChange={onChange}
          onClose={() => onEdit(undefined)}
        />
      )}
    >
      <SearchField
        label="Search"
        example="Name, id or description"
        value={filters.text}
        onChange={(text) => onChange({ text })}
      />
    </FilterChips>
  );
}

const NO_WINDOW: FilterChange = { within: undefined, from: undefined, to: undefined };
