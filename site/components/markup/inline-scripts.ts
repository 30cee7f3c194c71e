import { createContext } from 'react';
import type { Assets } from '../../page-data.ts';

/** The texts of the inline scripts, for components deep in the page that need one. */
export const InlineScripts = createContext<Assets['inline']>({ head: '', tabs: '', speculation: '' });
