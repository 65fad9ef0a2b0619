/** The desk's page: what waits, and nothing else. */
import { Page } from "./page.js";

new Page().open();
