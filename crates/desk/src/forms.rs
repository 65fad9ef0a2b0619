//! Forms that were read already. A server asks the same form again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use midcall_core::{Form, FormError, Limits};

/// How many are kept.
const MOST: usize = 256;

/// Forms by the text of their schema.
#[derive(Default)]
pub(crate) struct Forms(Mutex<HashMap<Box<str>, Arc<Form>>>);

impl Forms {
    pub fn read(&self, schema: &str) -> Result<Arc<Form>, FormError> {
        let mut forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = forms.get(schema) {
            return Ok(form.clone());
        }
        let form = Arc::new(Form::read(schema, &Limits::default())?);
        if forms.len() >= MOST {
            forms.clear();
        }
        forms.insert(schema.into(), form.clone());
        Ok(form)
    }
}
