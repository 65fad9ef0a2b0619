use midcall_core::Scope;
use midcall_store::*;
use std::time::*;
fn rss() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .filter(|l| l.starts_with("VmRSS") || l.starts_with("VmHWM"))
        .map(|l| {
            println!("{l}");
            1
        })
        .sum()
}
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let users: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let conv = std::env::args().nth(2).is_some();
    let s = Memory::default();
    rss();
    let t = Instant::now();
    let n = 1_000_000usize;
    for i in 0..n {
        let mut sc = Scope::user(format!("user-{}", i % users));
        if conv {
            sc = sc.conversation(format!("conversation-{i:022}"));
        }
        s.insert(
            &sc,
            &format!("{i:022}"),
            vec![7u8; 400].into(),
            Duration::from_secs(300),
        )
        .await
        .unwrap();
    }
    println!("{s:?} {:?}", t.elapsed());
    rss();
    let t = Instant::now();
    for i in 0..n {
        let k = Key::new(format!("user-{}", i % users), format!("{i:022}"));
        assert!(
            s.replace(
                &k,
                Version(1),
                vec![8u8; 400].into(),
                Duration::from_secs(300)
            )
            .await
            .unwrap()
        );
        s.take(&k).await.unwrap().unwrap();
    }
    println!("{s:?} replace+take {:?}", t.elapsed());
    rss();
}
