//! What the demo asks for in one form. Titles and doc comments are what people read.

use schemars::JsonSchema;
use serde::Deserialize;

/// Nothing: only whether the person agrees.
#[derive(Deserialize, JsonSchema)]
pub struct Publish {}

#[derive(Deserialize, JsonSchema)]
pub struct Watched {
    #[schemars(title = "Page", extend("format" = "uri", "default" = "https://example.com"))]
    pub page: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Report {
    #[schemars(title = "Send me a copy", extend("default" = true))]
    pub copy: bool,
    /// Everyone in the channel gets a message
    #[schemars(title = "Tell the team")]
    #[serde(default)]
    pub notify: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct Invitation {
    #[schemars(title = "Until when")]
    pub until: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
pub struct Moving {
    #[schemars(title = "First name")]
    _first_name: String,
    #[schemars(title = "Last name")]
    _last_name: String,
    #[schemars(title = "Email", extend("format" = "email"))]
    _email: String,
    #[schemars(title = "Phone")]
    _phone: Option<String>,
    #[schemars(title = "Old street")]
    _from_street: Option<String>,
    #[schemars(title = "Old city")]
    pub from_city: String,
    #[schemars(title = "Old floor", range(min = 0, max = 80))]
    #[serde(default)]
    _from_floor: u8,
    #[schemars(title = "Lift at the old place")]
    #[serde(default)]
    _from_lift: bool,
    #[schemars(title = "New street")]
    _to_street: Option<String>,
    #[schemars(title = "New city")]
    pub to_city: String,
    #[schemars(title = "New floor", range(min = 0, max = 80))]
    #[serde(default)]
    _to_floor: u8,
    #[schemars(title = "Lift at the new place")]
    #[serde(default)]
    _to_lift: bool,
    #[schemars(title = "Day", extend("format" = "date"))]
    _day: String,
    #[schemars(title = "Time of day")]
    _time: Option<Time>,
    #[schemars(title = "Rooms", range(min = 1, max = 30))]
    #[serde(default = "three")]
    _rooms: u8,
    #[schemars(title = "Boxes", range(min = 0, max = 500))]
    #[serde(default = "forty")]
    pub boxes: u16,
    #[schemars(title = "Volume in cubic metres", range(min = 0))]
    _volume: Option<f64>,
    #[schemars(title = "There is a piano")]
    #[serde(default)]
    _piano: bool,
    #[schemars(title = "Fragile")]
    #[serde(default)]
    _fragile: Vec<Fragile>,
    #[schemars(title = "Names of the rooms")]
    #[serde(default)]
    _rooms_named: Vec<String>,
    #[schemars(title = "Insurance")]
    _insurance: Option<Insurance>,
    #[schemars(title = "Reserve parking", extend("default" = true))]
    #[serde(default)]
    _parking: bool,
    #[schemars(title = "Notes", length(max = 1000), extend("format" = "textarea"))]
    _notes: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
enum Time {
    Morning,
    Noon,
    Afternoon,
}

#[derive(Deserialize, JsonSchema)]
enum Fragile {
    Glass,
    Paintings,
    Plants,
    Instruments,
}

#[derive(Deserialize, JsonSchema)]
enum Insurance {
    Basic,
    Full,
}

fn three() -> u8 {
    3
}

fn forty() -> u16 {
    40
}
