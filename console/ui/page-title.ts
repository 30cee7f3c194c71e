import { createContext, useContext, useEffect } from 'react';

/** Takes the title of the shown page, for the breadcrumb. */
export const PageTitleContext = createContext<(title: string) => void>(() => {});

/** Sets the title of the window and the end of the breadcrumb while the page is shown, most specific part first. */
export function usePageTitle(...parts: (string | undefined)[]): void {
  const title = [...parts.filter((part) => part), 'Switchyard'].join(' · ');
  const [own = ''] = parts;
  const setTitle = useContext(PageTitleContext);
  useEffect(() => {
    document.title = title;
    setTitle(own);
  }, [title, own, setTitle]);
}
