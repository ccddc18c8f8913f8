#if ROOST_SANITIZING
    import RoostBytes

    typealias Mutex<Value: ~Copyable> = VisibleMutex<Value>
#endif
