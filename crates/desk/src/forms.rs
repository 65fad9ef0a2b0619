//! Forms that were read already. A server asks the same form again and again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use midcall_core::{Form, FormError, Limits};

/// How many bytes of schemas are kept.
const MOST: usize = 1024 * 1024;

/// Forms by the text of their schema.
#[derive(Default)]
pub(crate) struct Forms(Mutex<Known>);

#[derive(Default)]
struct Known {
    forms: HashMap<Box<str>, Arc<Form>>,
    bytes: usize,
}

impl Forms {
    pub fn read(&self, schema: &str) -> Result<Arc<Form>, FormError> {
        if let Some(form) = self.lock().forms.get(schema) {
            return Ok(form.clone());
        }
        let form = Arc::new(Form::read(schema, &Limits::default())?);
        let mut known = self.lock();
        if known.bytes + schema.len() > MOST {
            *known = Known::default();
        }
        known.bytes += schema.len();
        known.forms.insert(schema.into(), form.clone());
        Ok(form)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
